/** The longest delay of a Node timer: 24.8 days. A longer one would fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

const NANOSECONDS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  // Micro sign and Greek mu, as Go has it.
  '\u00b5s': 1_000n,
  '\u03bcs': 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const PART = /(\d*)(?:\.(\d*))?([a-z\u00b5\u03bc]+)/gy;
const MAX_NANOSECONDS = 2n ** 63n - 1n;

/**
 * Reads a duration as Go writes it (`1h`, `1m30s`, `500ms`, `1.5h`, `-2s`, `0`).
 * @returns milliseconds, with a fraction where there is one, or what is wrong, as the end of a sentence
 */
export function parseGoDuration(text: string): number | { readonly problem: string } {
  const negative = text.startsWith('-');
  const rest = text.replace(/^[+-]/, '');
  if (rest === '0') return 0;
  if (/^\d+(\.\d*)?$/.test(rest)) return { problem: 'has no unit' };
  let nanoseconds = 0n;
  let end = 0;
  for (const part of rest.matchAll(PART)) {
    const [all, whole = '', fraction = '', unit = ''] = part;
    const size = NANOSECONDS[unit];
    if (whole === '' && fraction === '') break;
    if (size === undefined) return { problem: `has the unknown unit "${unit}"` };
    nanoseconds += BigInt(whole === '' ? 0 : whole) * size;
    nanoseconds += (BigInt(fraction === '' ? 0 : fraction) * size) / 10n ** BigInt(fraction.length);
    if (nanoseconds > MAX_NANOSECONDS) return { problem: 'is too long' };
    end += all.length;
  }
  if (end === 0 || end !== rest.length) return { problem: 'is not a duration' };
  const ms = Number(nanoseconds) / 1e6;
  return negative ? -ms : ms;
}

/** Milliseconds as people write them: `1m30s`, `500ms`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s';
  if (ms < 0) return `-${formatDuration(-ms)}`;
  if (ms < 1000) return `${ms}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = (ms % 60_000) / 1000;
  return `${hours > 0 ? `${hours}h` : ''}${minutes > 0 ? `${minutes}m` : ''}${seconds > 0 ? `${seconds}s` : ''}`;
}
