import { EventEmitter } from 'node:events';
import { pinColumns } from './pin-columns.ts';

const PLACES = /^\d+\+?(?:\n\d+\+?)*\n?$/;

/**
 * Stands between Ink and the terminal. Ink's own way erases and writes everything at each frame, and clears the screen
 * once a frame is as high as the terminal. It takes every line apart into characters and puts it together again, which
 * was two thirds of a frame, and it remembers the size of every text for ever, of which there is a new one each second
 * in every line with an age. So what Ink lays out are the places of lines, and when it writes, the lines that changed are
 * written there.
 */
export class Surface extends EventEmitter {
  readonly isTTY = true;
  /** As wide as a place is: Ink makes an object for every cell. */
  readonly columns = 6;
  rows: number;
  readonly #write: (text: string) => void;
  #lines: readonly string[] = [];
  /** Those that were written last. */
  #shown: readonly string[] = [];
  #blank = true;
  #off = true;

  constructor(write: (text: string) => void, rows: number) {
    super();
    this.#write = write;
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

  /** The terminal has another size, in either direction. */
  resize(rows: number): void {
    this.rows = rows;
    // What a terminal makes of its lines when it changes its width is its own business.
    this.#blank = true;
  }

  /** The painted lines of the next frame, all of them. */
  take(lines: readonly string[]): void {
    this.#lines = lines;
  }

  /** Called by Ink with the places, from 0, of all lines, or with a sequence of its own (the cursor). */
  write(text: string): boolean {
    if (this.#off || !PLACES.test(text)) return true;
    let out = this.#blank ? '\u001b[2J' : '';
    for (const place of text.trimEnd().split('\n')) {
      const row = Number.parseInt(place, 10);
      const line = this.#lines[row] ?? '';
      if (row >= this.rows || (!this.#blank && line === this.#shown[row])) continue;
      // Reset first: a terminal that erases with the colours of before would paint the rest of the line.
      out += `\u001b[${row + 1};1H${pinColumns(line)}\u001b[0m\u001b[K`;
    }
    this.#shown = this.#lines;
    if (out === '') return true;
    this.#blank = false;
    this.#write(`\u001b[?2026h${out}\u001b[?2026l`);
    return true;
  }
}
