import stringWidth from 'string-width';

const GAP = 2;

/** How a table becomes as narrow as the terminal. */
export interface TableFit {
  /** Of the terminal. */
  readonly columns: number;
  /** Stands for what was cut off. */
  readonly mark: string;
  /** Columns that are shortened, one after the other, and to how much at most: the least important first. */
  readonly shorten: readonly (readonly [name: string, least: number])[];
  /** Columns that are left out when that is not enough, one after the other. */
  readonly drop: readonly string[];
}

/** Which columns of a table are shown, and how wide. */
export interface TableLayout {
  /** Numbers of columns. */
  readonly shown: readonly number[];
  /** Of each shown one. */
  readonly widths: readonly number[];
  /** Where cells may not be wider than that. */
  readonly cuts: ReadonlySet<number>;
}

/** A layout in which every column is shown, as wide as it is. */
export function wholeLayout(widths: readonly number[]): TableLayout {
  return { shown: widths.map((_, column) => column), widths, cuts: new Set() };
}

/**
 * A layout that fits, if columns that may give way do: as few as possible are left out, and then shortened as little as
 * possible. The others are whole, also when they are too wide together.
 */
export function fitLayout(head: readonly string[], widths: readonly number[], fit: TableFit): TableLayout {
  let layout = wholeLayout(widths);
  for (let dropped = 0; dropped <= fit.drop.length; dropped++) {
    const without = new Set(fit.drop.slice(0, dropped));
    const shown = head.flatMap((name, column) => (without.has(name) ? [] : [column]));
    const shortened = shorten(head, shown, widths, fit);
    layout = { shown, ...shortened };
    if (total(shortened.widths) <= fit.columns) break;
  }
  return layout;
}

function shorten(
  head: readonly string[],
  shown: readonly number[],
  natural: readonly number[],
  fit: TableFit,
): Pick<TableLayout, 'widths' | 'cuts'> {
  const widths = shown.map((column) => natural[column] ?? 0);
  const cuts = new Set<number>();
  for (const [name, least] of fit.shorten) {
    const over = total(widths) - fit.columns;
    const at = shown.findIndex((column) => head[column] === name);
    if (over <= 0 || at < 0) continue;
    const width = widths[at] ?? 0;
    const narrow = Math.max(least, stringWidth(name), width - over);
    if (narrow >= width) continue;
    widths[at] = narrow;
    cuts.add(shown[at] ?? 0);
  }
  return { widths, cuts };
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + GAP * (widths.length - 1);
}

/** The beginning of a text, with the mark at its end, in so many columns of a terminal. */
export function cutTo(text: string, width: number, mark: string): string {
  if (stringWidth(text) <= width) return text;
  let kept = '';
  let used = stringWidth(mark);
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += stringWidth(segment);
    if (used > width) break;
    kept += segment;
  }
  return `${kept.trimEnd()}${mark}`;
}
