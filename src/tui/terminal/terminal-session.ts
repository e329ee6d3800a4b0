import type { ReadStream, WriteStream } from 'node:tty';

const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?2004h';
const LEAVE = '\u001b[?2004l\u001b[?25h\u001b[0m\u001b[?1049l';

/**
 * The terminal while it is ours: alternate screen, raw keys, marked pastes, no cursor. `leave` gives it back; it may be
 * called from anywhere, also from an `exit` handler, and more than once.
 */
export class TerminalSession {
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  #inside = false;

  constructor(input: ReadStream, output: WriteStream) {
    this.#input = input;
    this.#output = output;
  }

  enter(): void {
    if (this.#inside) return;
    this.#inside = true;
    this.#input.setRawMode(true);
    this.#input.resume();
    this.#output.write(ENTER);
  }

  leave(): void {
    if (!this.#inside) return;
    this.#inside = false;
    try {
      this.#output.write(LEAVE);
      this.#input.setRawMode(false);
    } catch {
      // The terminal is gone: there is nothing to give back.
    }
    this.#input.pause();
  }
}
