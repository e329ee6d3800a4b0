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
  return lines.map((line) => `${tableLine(line, widths)}\n`).join('');
}

export function columnWidths(columns: number, lines: readonly (readonly string[])[]): number[] {
  return Array.from({ length: columns }, (_, column) =>
    Math.max(...lines.map((line) => stringWidth(line[column] ?? ''))),
  );
}

/** One line of a table of which the widths are given; a wider cell pushes the rest to the right. */
export function tableLine(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, column) => padded(oneLine(cell, CELL_LIMIT), widths[column] ?? 0))
    .join('  ')
    .trimEnd();
}

/** Filled up to that many columns of a terminal, which are not as many as characters. */
function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - stringWidth(text)));
}
