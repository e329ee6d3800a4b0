/** One line on standard error: how far the run is, and what the last cell gave. */
export class Progress {
  readonly #cells: number;
  #done = 0;

  constructor(cells: number) {
    this.#cells = cells;
  }

  step(what: string): void {
    this.#done++;
    const line = `[${this.#done}/${this.#cells}] ${what}`;
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line.split('\n')[0]}`);
    else process.stderr.write(`${line}\n`);
  }

  end(): void {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  }
}
