import { EventEmitter } from 'node:events';
import { pinColumns } from './pin-columns.ts';

/**
 * Stands between Ink and the terminal. Ink's own way erases and writes everything at each frame, and clears the screen
 * once a frame is as high as the terminal; and it costs a millisecond for every few lines. So it is given the lines that
 * changed alone, and what it makes of them is written where they belong.
 */
export class Surface extends EventEmitter {
  readonly isTTY = true;
  columns: number;
  rows: number;
  readonly #write: (text: string) => void;
  #places: readonly number[] = [];
  #blank = true;
  #off = true;

  constructor(write: (text: string) => void, columns: number, rows: number) {
    super();
    this.#write = write;
    this.columns = columns;
    this.rows = rows;
  }

  /** Nothing of ours is on the screen: every line is to be written. */
  get blank(): boolean {
    return this.#blank;
  }

  /** From here on lines are shown; what is on the screen is not ours. */
  open(): void {
    this.#off = false;
    this.#blank = true;
  }

  /** Nothing is written any more: the terminal belongs to somebody else. */
  shut(): void {
    this.#off = true;
  }

  resize(columns: number, rows: number): void {
    this.columns = columns;
    this.rows = rows;
    // What a terminal makes of its lines when it changes its width is its own business.
    this.#blank = true;
  }

  /** The rows, from 0, that the next frame's lines are for. */
  expect(places: readonly number[]): void {
    this.#places = places;
  }

  /** Called by Ink with the lines of a frame, or with a sequence of its own (the cursor), which is not its matter. */
  write(text: string): boolean {
    if (this.#off || this.#places.length === 0) return true;
    const lines = text.split('\n');
    let out = this.#blank ? '\u001b[2J' : '';
    for (const [i, row] of this.#places.entries()) {
      // Reset first: a terminal that erases with the colours of before would paint the rest of the line.
      if (row < this.rows) out += `\u001b[${row + 1};1H${pinColumns(lines[i] ?? '')}\u001b[0m\u001b[K`;
    }
    this.#places = [];
    this.#blank = false;
    this.#write(`\u001b[?2026h${out}\u001b[?2026l`);
    return true;
  }
}
