import stringWidth from 'string-width';
import { oneLine } from '../proxy/ops/safe-text.ts';

/** Longer cells are cut: one odd ID must not make a table unreadable. */
const CELL_LIMIT = 200;

/**
 * A table in plain text: columns as wide as their widest cell, two spaces between them. Cells may come from anywhere:
 * nothing in them reaches the terminal as a command.
 */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows.map((row) => row.map((cell) => oneLine(cell, CELL_LIMIT)))];
  const widths = columnWidths(head.length, lines);
  return lines.map((line) => `${joined(line, widths)}\n`).join('');
}

export function columnWidths(columns: number, lines: readonly (readonly string[])[]): number[] {
  const widths = new Array<number>(columns).fill(0);
  for (const line of lines) {
    for (let column = 0; column < columns; column++) {
      const width = stringWidth(line[column] ?? '');
      if (width > (widths[column] as number)) widths[column] = width;
    }
  }
  return widths;
}

/** One line of a table of which the widths are given; a wider cell pushes the rest to the right. */
export function tableLine(cells: readonly string[], widths: readonly number[]): string {
  return joined(
    cells.map((cell) => oneLine(cell, CELL_LIMIT)),
    widths,
  );
}

function joined(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, column) => padded(cell, widths[column] ?? 0))
    .join('  ')
    .trimEnd();
}

/** Filled up to that many columns of a terminal, which are not as many as characters. */
function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - stringWidth(text)));
}
