import { Fault } from '../proxy/ops/fault.ts';
import { LONGEST_TIMER_MS, parseGoDuration } from './flags/go-duration.ts';

/**
 * The value of a flag that is a duration as Go writes it.
 * @returns milliseconds, at most what a timer takes; undefined when the flag is not given
 * @throws Fault that names the flag
 */
export function durationFlag(
  name: string,
  text: string | undefined,
  least: 'zero' | 'positive' = 'positive',
): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseGoDuration(text);
  if (typeof ms !== 'number') {
    throw new Fault('flag-value', `${name} ${text} ${ms.problem}`, 'give a duration such as 30s or 1h30m');
  }
  if (ms < 0 || (ms === 0 && least === 'positive')) {
    const remedy = least === 'zero' ? 'give 0 or more' : 'give more than 0';
    throw new Fault('flag-value', `${name} ${text} leaves no time`, remedy);
  }
  return Math.min(ms, LONGEST_TIMER_MS);
}
