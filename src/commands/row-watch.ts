import { columnWidths, tableLine } from './table.ts';

export interface WatchedRow {
  readonly id: string;
  readonly cells: readonly string[];
  /** The row is printed again when it changes. */
  readonly key: string;
}

/** A table that goes on: first all rows, then each row that changed or came, and one for each that went. */
export class RowWatch {
  readonly #head: readonly string[];
  readonly #gone: string;
  readonly #keys = new Map<string, string>();
  #widths: readonly number[] | undefined;

  /** @param gone what is written into the second column of a row that is no longer there */
  constructor(head: readonly string[], gone: string) {
    this.#head = head;
    this.#gone = gone;
  }

  /** The text to print now; empty when nothing changed. */
  next(rows: readonly WatchedRow[]): string {
    const lines: (readonly string[])[] = [];
    if (this.#widths === undefined) lines.push(this.#head);
    for (const { id, key, cells } of rows) {
      if (this.#keys.get(id) === key) continue;
      this.#keys.set(id, key);
      lines.push(cells);
    }
    const present = new Set(rows.map((row) => row.id));
    for (const id of this.#keys.keys()) {
      if (present.has(id)) continue;
      this.#keys.delete(id);
      lines.push([id, this.#gone]);
    }
    // Later rows stay in line with those above as far as they fit.
    this.#widths ??= columnWidths(this.#head.length, lines);
    const widths = this.#widths;
    return lines.map((cells) => `${tableLine(cells, widths)}\n`).join('');
  }
}
