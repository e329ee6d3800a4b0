/** The last values as bars, the newest on the right; the highest of them is a full bar. */
export function sparkline(values: readonly number[], width: number, bars: string): string {
  if (bars === '') return '';
  const last = values.slice(-width);
  const most = Math.max(...last, 1);
  const text = last
    .map((value) => bars[Math.min(bars.length - 1, Math.floor((value / most) * bars.length))])
    .join('');
  return text.padStart(width);
}
