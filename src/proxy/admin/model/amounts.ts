// Amounts as people read them in a table: short, of one unit or two, never wider than seven characters.

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;

/** An age: `45s`, `12m`, `4h05m`, `3d04h`. Below a second: `0s`. */
export function ageText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < MINUTE) return `${whole}s`;
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)}m`;
  if (whole < DAY) return `${Math.floor(whole / HOUR)}h${two(Math.floor((whole % HOUR) / MINUTE))}m`;
  const days = Math.floor(whole / DAY);
  return days < 100 ? `${days}d${two(Math.floor((whole % DAY) / HOUR))}h` : `${days}d`;
}

/** Since then, or nothing known. */
export function sinceText(since: Date | undefined, nowMs: number): string {
  return since === undefined ? '-' : ageText((nowMs - since.getTime()) / 1_000);
}

/** `0 B`, `84 kB`, `1.2 MB`, `31 GB`: decimal units, as networks are measured. */
export function bytesText(bytes: number): string {
  let value = Math.max(0, bytes);
  if (value < 999.5) return `${Math.round(value)} B`;
  for (const unit of ['kB', 'MB', 'GB', 'TB']) {
    value /= 1_000;
    if (value < 9.95) return `${value.toFixed(1)} ${unit}`;
    if (value < 999.5 || unit === 'TB') return `${Math.round(value)} ${unit}`;
  }
  return '';
}

/** `11 kB/s`. */
export function byteRateText(bytesPerSecond: number): string {
  return `${bytesText(bytesPerSecond)}/s`;
}

/** A round trip: `0.4ms`, `12ms`, `7s`; `-` when it is not known. */
export function roundTripText(seconds: number | undefined): string {
  if (seconds === undefined) return '-';
  const ms = seconds * 1_000;
  if (ms < 9.95) return `${ms.toFixed(1)}ms`;
  return ms < 999.5 ? `${Math.round(ms)}ms` : `${seconds < 9.95 ? seconds.toFixed(1) : Math.round(seconds)}s`;
}

/** `1 tunnel`, `3 tunnels`. */
export function countText(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}
