import stringWidth from 'string-width';
import { oneLine } from '../proxy/ops/safe-text.ts';
import { cutTo, fitLayout, type TableFit, type TableLayout, wholeLayout } from './fit-table.ts';

/** Longer cells are cut: one odd ID must not make a table unreadable. */
const CELL_LIMIT = 200;

/**
 * A table in plain text: columns as wide as their widest cell, two spaces between them. Cells may come from anywhere:
 * nothing in them reaches the terminal as a command.
 * @param fit where it is to fit into a terminal
 */
export function formatTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  fit?: TableFit,
): string {
  const lines = [head, ...rows.map((row) => row.map((cell) => oneLine(cell, CELL_LIMIT)))];
  const layout = layoutOf(head, lines, fit);
  return lines.map((line) => `${joined(line, layout, fit)}\n`).join('');
}

export function layoutOf(
  head: readonly string[],
  lines: readonly (readonly string[])[],
  fit: TableFit | undefined,
): TableLayout {
  const widths = new Array<number>(head.length).fill(0);
  for (const line of lines) {
    for (let column = 0; column < head.length; column++) {
      const width = stringWidth(line[column] ?? '');
      if (width > (widths[column] as number)) widths[column] = width;
    }
  }
  return fit === undefined ? wholeLayout(widths) : fitLayout(head, widths, fit);
}

/** One line of a table of which the layout is given; a wider cell that may not be cut pushes the rest to the right. */
export function tableLine(cells: readonly string[], layout: TableLayout, fit: TableFit | undefined): string {
  return joined(
    cells.map((cell) => oneLine(cell, CELL_LIMIT)),
    layout,
    fit,
  );
}

function joined(
  cells: readonly string[],
  { shown, widths, cuts }: TableLayout,
  fit: TableFit | undefined,
): string {
  return shown
    .map((column, at) => {
      const cell = cells[column] ?? '';
      const width = widths[at] ?? 0;
      return padded(fit !== undefined && cuts.has(column) ? cutTo(cell, width, fit.mark) : cell, width);
    })
    .join('  ')
    .trimEnd();
}

/** Filled up to that many columns of a terminal, which are not as many as characters. */
function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - stringWidth(text)));
}
