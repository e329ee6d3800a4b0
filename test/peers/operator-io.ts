import { PassThrough } from 'node:stream';
import type { CommandIo } from '../../src/commands/io.ts';

/** The io of an operator command in a test's hand; everything that was written is kept. */
export class OperatorIo implements CommandIo {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly interrupt = new AbortController();
  readonly interrupted = this.interrupt.signal;
  readonly killed = new AbortController().signal;
  out = '';
  said = '';
  readonly #waiting: { readonly text: string; readonly resolve: () => void }[] = [];

  /** @param terminal as if stdin and stderr were one */
  constructor({ terminal = false, env = {} }: { terminal?: boolean; env?: CommandIo['env'] } = {}) {
    this.env = env;
    if (terminal) {
      Object.assign(this.stdin, { isTTY: true });
      Object.assign(this.stderr, { isTTY: true });
    }
    this.stdout.on('data', (chunk) => {
      this.out += String(chunk);
      this.#look();
    });
    this.stderr.on('data', (chunk) => {
      this.said += String(chunk);
      this.#look();
    });
  }

  /** Resolves when that text was written to stdout or stderr. */
  written(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ text, resolve });
      this.#look();
    });
  }

  get lines(): string[] {
    return this.out.split('\n').filter((line) => line !== '');
  }

  #look(): void {
    for (const one of this.#waiting) {
      if (this.out.includes(one.text) || this.said.includes(one.text)) one.resolve();
    }
  }
}
