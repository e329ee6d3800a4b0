import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

/** The flags of upstream's commands, as far as a baseline heeds them; all others are ignored, as is `--v`. */
export class GoFlags {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(args: string[] = process.argv.slice(2)) {
    this.#values = parseArgs({ args, strict: false }).values;
  }

  /** @throws Error when the flag was not given */
  text(name: string): string {
    const value = this.#values[name];
    if (typeof value !== 'string') throw new Error(`--${name}=... is missing`);
    return value;
  }

  port(name: string): number {
    return Number(this.text(name));
  }

  /** The content of the file that the flag names. */
  file(name: string): Buffer {
    return readFileSync(this.text(name));
  }
}
