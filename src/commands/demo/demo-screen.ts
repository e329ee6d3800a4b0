import { createInterface, type Interface } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import { openAdminClient } from '../../proxy/admin/client/open-admin-client.ts';
import type { CommandIo } from '../io.ts';
import type { Scene } from './scene.ts';

/** Lines that are kept while `top` has the screen. */
const MOST_HELD = 500;
const QUESTION = 'Stop the demo? y and Enter stop it; Enter keeps it running. ';

/** The demo's lines, and `top` in front of them, where there is a terminal. */
export class DemoScreen {
  readonly isTerminal: boolean;
  readonly #scene: Scene;
  readonly #io: CommandIo;
  readonly #closed = new AbortController();
  #held: string[] | undefined;
  #lines: Interface | undefined;
  #running: Promise<void> | undefined;

  constructor(scene: Scene, io: CommandIo) {
    this.#scene = scene;
    this.#io = io;
    const term = io.env.TERM ?? '';
    this.isTerminal = isTty(io.stdin) && isTty(io.stdout) && term !== '' && term !== 'dumb';
  }

  /** Prints lines, or keeps them until they can be seen. */
  print(text: string): void {
    if (this.#held === undefined) this.#io.stdout.write(text);
    else this.#held = [...this.#held, text].slice(-MOST_HELD);
  }

  /** Enter opens `top`; resolves when the demo is to end, or is closed. */
  run(stop: () => void): Promise<void> {
    this.#running ??= this.isTerminal ? this.#converse(stop) : Promise.resolve();
    return this.#running;
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#lines?.close();
    await this.#running;
  }

  async #converse(stop: () => void): Promise<void> {
    for (;;) {
      const answer = await this.#line();
      if (answer === undefined) return;
      const how = answer.trim() === 'q' ? 'quit' : await this.#top();
      if (this.#closed.signal.aborted || how === 'hung-up') return;
      if (how === 'lines') {
        this.print('Enter opens top again; q and Enter, or Ctrl-C, end the demo.\n');
        continue;
      }
      this.print(QUESTION);
      const decided = await this.#line();
      if (decided === undefined) return;
      if (/^y(es)?$/i.test(decided.trim())) return stop();
      this.print('It runs on. Enter opens top again.\n');
    }
  }

  async #top(): Promise<'quit' | 'lines' | 'hung-up'> {
    const [{ runTop }, { colourLevel }, { glyphsFor }] = await Promise.all([
      import('../../tui/run-top.ts'),
      import('../../tui/paint/paint.ts'),
      import('../../tui/badge.ts'),
    ]);
    const { env, stdin, stdout, interrupted } = this.#io;
    const client = openAdminClient(this.#scene.adminAddress, { actor: 'demo' });
    this.#held = [];
    try {
      return await runTop({
        clients: [client],
        input: stdin as ReadStream,
        output: stdout as WriteStream,
        glyphs: glyphsFor(env),
        colours: colourLevel(env),
        readOnly: false,
        inDemo: true,
        signal: AbortSignal.any([interrupted, this.#closed.signal]),
      });
    } finally {
      client.close();
      const held = this.#held ?? [];
      this.#held = undefined;
      for (const text of held) this.print(text);
    }
  }

  /** One line that was typed; undefined when there will be none. */
  #line(): Promise<string | undefined> {
    if (this.#closed.signal.aborted) return Promise.resolve(undefined);
    // Without an output it is no editor: the terminal stays as it is, and Ctrl-C a signal.
    const lines = createInterface({ input: this.#io.stdin, terminal: false });
    this.#lines = lines;
    return new Promise((resolve) => {
      lines.once('line', (line) => {
        lines.removeAllListeners('close');
        lines.close();
        resolve(line);
      });
      lines.once('close', () => resolve(undefined));
    });
  }
}

function isTty(stream: unknown): boolean {
  return (stream as { readonly isTTY?: boolean }).isTTY === true;
}
