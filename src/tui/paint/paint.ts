import { Chalk, type ChalkInstance, type ColorSupportLevel } from 'chalk';
import type { Line, Tone } from '../layout/span.ts';

/**
 * The sixteen colours alone, and never white or black, so that light and dark terminals both read well; meanings are
 * told by words and badges, too.
 * @param level of chalk; 0 paints nothing but the selected row, which has its `>` besides
 * @param stale everything steps back
 */
export function painter(level: ColorSupportLevel): (line: Line, stale: boolean) => string {
  const chalk = new Chalk({ level });
  const tones: Readonly<Record<Tone, ChalkInstance>> = {
    plain: chalk,
    quiet: chalk.dim,
    strong: chalk.bold,
    good: chalk.green,
    // Bold, many terminals make it bright, which nobody can read on white.
    busy: chalk.yellow,
    done: chalk.cyan,
    bad: chalk.red.bold,
    key: chalk.bold.underline,
  };
  return ({ spans, selected }, stale) => {
    const text = spans
      .map(({ text, tone }) =>
        text === '' ? '' : stale && tone !== 'bad' ? chalk.dim(text) : tones[tone](text),
      )
      .join('');
    return selected === undefined ? text : chalk.inverse(text);
  };
}

/** NO_COLOR (set, not empty) and TERM decide; FORCE_COLOR is not needed on a terminal. */
export function colourLevel(env: Readonly<Record<string, string | undefined>>): ColorSupportLevel {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return 0;
  if (env.TERM === undefined || env.TERM === 'dumb' || /^vt\d+$/.test(env.TERM)) return 0;
  return 1;
}
