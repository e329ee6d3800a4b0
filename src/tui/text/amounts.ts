/** Events per second: `0.8`, `12`. */
export function rateText(perSecond: number): string {
  return perSecond < 9.95 ? perSecond.toFixed(1) : String(Math.round(perSecond));
}

/** A count in at most four cells: `318`, `12k`. */
export function shortCount(count: number): string {
  if (count < 10_000) return String(count);
  return count < 999_500 ? `${Math.round(count / 1_000)}k` : `${Math.round(count / 1_000_000)}M`;
}

/** A time of day, `10:41`, with the date when it is another day. */
export function clockText(time: Date, nowMs: number): string {
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}`;
  if (time.toDateString() === new Date(nowMs).toDateString()) return clock;
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${clock}`;
}

/** `10:41:07`. */
export function secondsClockText(time: Date): string {
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

/** `15m`, `2h`, `1h30m`, `90s` as seconds; `0` is 0; undefined when it is no duration. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  const match = /^(?:(\d{1,4})d)?(?:(\d{1,5})h)?(?:(\d{1,6})m)?(?:(\d{1,8})s)?$/.exec(text);
  if (match === null || text === '') return undefined;
  const [, d = '0', h = '0', m = '0', s = '0'] = match;
  return Number(d) * 86_400 + Number(h) * 3_600 + Number(m) * 60 + Number(s);
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
