import { EventEmitter } from 'node:events';
import { pinColumns } from './pin-columns.ts';

/**
 * Stands between Ink and the terminal: takes whole frames, writes the lines that changed. Ink's own way erases and
 * writes everything at each frame, and clears the screen once a frame is as high as the terminal.
 */
export class Surface extends EventEmitter {
  readonly isTTY = true;
  columns: number;
  rows: number;
  readonly #write: (text: string) => void;
  #shown: readonly string[] = [];
  #off = true;

  constructor(write: (text: string) => void, columns: number, rows: number) {
    super();
    this.#write = write;
    this.columns = columns;
    this.rows = rows;
  }

  /** From here on frames are shown; the screen is taken to be empty. */
  open(): void {
    this.#off = false;
    this.#shown = [];
  }

  /** Nothing is written any more: the terminal belongs to somebody else. */
  shut(): void {
    this.#off = true;
  }

  resize(columns: number, rows: number): void {
    this.columns = columns;
    this.rows = rows;
    // What a terminal makes of its lines when it changes its width is its own business.
    this.#shown = [];
  }

  /** Called by Ink with a whole frame, or with a sequence of its own (the cursor), which is the session's matter. */
  write(text: string): boolean {
    if (this.#off || (text.startsWith('\u001b[?') && text.length < 8)) return true;
    const lines = text.split('\n').slice(0, this.rows);
    const all = this.#shown.length === 0;
    let out = all ? '\u001b[2J' : '';
    for (let i = 0; i < Math.max(lines.length, this.#shown.length); i++) {
      const line = lines[i] ?? '';
      if (!all && line === this.#shown[i]) continue;
      // Reset first: a terminal that erases with the colours of before would paint the rest of the line.
      out += `\u001b[${i + 1};1H${pinColumns(line)}\u001b[0m\u001b[K`;
    }
    this.#shown = lines;
    if (out !== '') this.#write(`\u001b[?2026h${out}\u001b[?2026l`);
    return true;
  }
}
