/** Lines of cells with columns of one width: the first to the left, the others to the right. */
export function align(lines: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const line of lines) {
    line.forEach((text, column) => {
      widths[column] = Math.max(widths[column] ?? 0, text.length);
    });
  }
  const pad = (text: string, column: number): string =>
    column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0);
  return lines.map((line) => line.map(pad).join('  '));
}

/** Three digits, or all before the point. */
export function figure(value: number): string {
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** A share as per cent. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(0)}%`;
}
