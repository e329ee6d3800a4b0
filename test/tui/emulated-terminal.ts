import headless from '@xterm/headless';

/** A terminal emulator that is written to as a terminal is, and read line by line. */
export class EmulatedTerminal {
  #cursorShown = true;
  readonly #terminal: InstanceType<typeof headless.Terminal>;

  constructor(columns: number, rows: number) {
    this.#terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true });
  }

  /** Resolves when it was taken in. */
  write(text: string): Promise<void> {
    for (const [, end] of text.matchAll(/\u001b\[\?25([hl])/g)) this.#cursorShown = end === 'h';
    return new Promise((resolve) => this.#terminal.write(text, resolve));
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
  }

  /** The lines of the screen that is shown now, without blanks at their ends. */
  get lines(): string[] {
    const { active } = this.#terminal.buffer;
    return Array.from({ length: this.#terminal.rows }, (_, i) =>
      (active.getLine(active.baseY + i)?.translateToString(true) ?? '').trimEnd(),
    );
  }

  /** The cell in which a text of plain characters begins for the last time in a row; -1 when it is not there. */
  columnOf(row: number, text: string): number {
    const { active } = this.#terminal.buffer;
    const cells = Array.from({ length: this.#terminal.cols }, (_, x) =>
      (
        active
          .getLine(active.baseY + row)
          ?.getCell(x)
          ?.getChars() || ' '
      ).slice(0, 1),
    );
    return cells.join('').lastIndexOf(text);
  }

  get text(): string {
    return this.lines.join('\n');
  }

  get alternate(): boolean {
    return this.#terminal.buffer.active.type === 'alternate';
  }

  /** By what was written last: the emulator does not tell. */
  get cursorShown(): boolean {
    return this.#cursorShown;
  }

  /** Marked pastes. */
  get bracketedPaste(): boolean {
    return this.#terminal.modes.bracketedPasteMode;
  }
}
