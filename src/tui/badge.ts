import type { Agent, Condition } from '../proxy/admin/model/agent.ts';
import type { Tone } from './layout/span.ts';

/** The characters that depend on what the terminal can show. */
export interface Glyphs {
  /** The terminal takes nothing but ASCII. */
  readonly asciiOnly: boolean;
  readonly ready: string;
  readonly draining: string;
  readonly drained: string;
  readonly bad: string;
  readonly gone: string;
  readonly ellipsis: string;
  readonly mark: string;
  /** Lowest first; empty: no sparklines. */
  readonly spark: string;
  /** Left top, horizontal, right top, vertical, left bottom, right bottom. */
  readonly box: string;
  readonly radioOn: string;
  readonly radioOff: string;
  readonly cursor: string;
}

export const UNICODE: Glyphs = {
  asciiOnly: false,
  ready: '●',
  draining: '◐',
  drained: '○',
  bad: '✕',
  gone: '·',
  ellipsis: '…',
  mark: '+',
  spark: '▁▂▃▄▅▆▇█',
  box: '┌─┐│└┘',
  radioOn: '(•)',
  radioOff: '( )',
  cursor: '█',
};

export const ASCII: Glyphs = {
  asciiOnly: true,
  ready: '*',
  draining: '~',
  drained: 'o',
  bad: 'x',
  gone: '-',
  ellipsis: '~',
  mark: '+',
  spark: '',
  box: '+-+|++',
  radioOn: '(*)',
  radioOff: '( )',
  cursor: '_',
};

/** Chooses by the locale, as programs do: the first that is set of LC_ALL, LC_CTYPE, LANG. */
export function glyphsFor(env: Readonly<Record<string, string | undefined>>): Glyphs {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  return /utf-?8/i.test(locale) ? UNICODE : ASCII;
}

export interface Badge {
  readonly text: string;
  readonly tone: Tone;
}

type BadgeAgent = Pick<Agent, 'state' | 'conditions'>;

/** Conditions under which dials may fail: they say more than the state. */
const FAILING: readonly Condition[] = ['late', 'unresponsive'];

/** The state, then the worst condition: `◐ DRAINING overdue`; in few cells the condition alone: `◐ overdue`. */
export function badgeOf({ state, conditions }: BadgeAgent, glyphs: Glyphs, short = false): Badge {
  const worst = conditions[0];
  if (worst !== undefined && FAILING.includes(worst) && state === 'ready') {
    return { text: `${glyphs.bad} ${worst === 'unresponsive' && short ? 'no answer' : worst}`, tone: 'bad' };
  }
  const glyph = glyphs[state];
  const word = state === 'draining' ? 'DRAINING' : state;
  const tone = worst !== undefined && worst !== 'partial' && worst !== 'slow' ? 'bad' : TONES[state];
  if (worst === undefined) return { text: `${glyph} ${word}`, tone };
  return { text: short ? `${glyph} ${worst}` : `${glyph} ${word} ${worst}`, tone };
}

const TONES: Readonly<Record<Agent['state'], Tone>> = {
  ready: 'good',
  draining: 'busy',
  drained: 'done',
  gone: 'quiet',
};
