import type { TableFit, TableLayout } from './fit-table.ts';
import { layoutOf, tableLine } from './table.ts';

export interface WatchedRow {
  readonly id: string;
  /** Where the ID says more than the first cell: what is written when it went. */
  readonly goneText?: string;
  readonly cells: readonly string[];
  /** The row is printed again when it changes. */
  readonly key: string;
}

/** A table that goes on: first all rows, then each row that changed or came, and one for each that went. */
export class RowWatch {
  readonly #head: readonly string[];
  readonly #gone: string;
  readonly #known = new Map<string, { readonly key: string; readonly name: string; readonly gone: string }>();
  readonly #fit: TableFit | undefined;
  #layout: TableLayout | undefined;

  /** @param gone what is written into the second column of a row that is no longer there */
  constructor(head: readonly string[], gone: string, fit?: TableFit) {
    this.#head = head;
    this.#fit = fit;
    this.#gone = gone;
  }

  /**
   * The text to print now; empty when nothing changed.
   * @param complete false when somebody who may know of more rows did not answer: those that are missing are not gone
   */
  next(rows: readonly WatchedRow[], complete = true): string {
    const lines: (readonly string[])[] = [];
    if (this.#layout === undefined) lines.push(this.#head);
    for (const { id, key, cells, goneText = this.#gone } of rows) {
      if (this.#known.get(id)?.key === key) continue;
      this.#known.set(id, { key, name: cells[0] ?? id, gone: goneText });
      lines.push(cells);
    }
    const present = new Set(rows.map((row) => row.id));
    for (const [id, { name, gone }] of complete ? this.#known : []) {
      if (present.has(id)) continue;
      this.#known.delete(id);
      lines.push([name, gone]);
    }
    // Later rows stay in line with those above as far as they fit.
    this.#layout ??= layoutOf(this.#head, lines, this.#fit);
    const layout = this.#layout;
    return lines.map((cells) => `${tableLine(cells, layout, this.#fit)}\n`).join('');
  }
}
