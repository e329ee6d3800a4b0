import { spawn } from '@lydell/node-pty';
import { EmulatedTerminal } from './emulated-terminal.ts';

export interface TopTerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Instead of node and the program. */
  readonly command?: readonly string[];
}

const NAMED: Readonly<Record<string, string>> = {
  enter: '\r',
  escape: '\u001b',
  tab: '\t',
  'shift-tab': '\u001b[Z',
  up: '\u001b[A',
  down: '\u001b[B',
  'ctrl-c': '\u0003',
  'ctrl-z': '\u001a',
};

/** The program in a pseudo-terminal, with an emulator that reads what it shows. */
export class TopTerminal {
  readonly screen: EmulatedTerminal;
  readonly #pty: ReturnType<typeof spawn>;
  readonly #exited: Promise<number>;
  #waiting: (() => void)[] = [];
  #ended = false;

  constructor(args: readonly string[], options: TopTerminalOptions = {}) {
    const { columns = 100, rows = 30, env = {} } = options;
    const [program = '', ...rest] = options.command ?? [process.execPath, 'bin/konnectivity-ts.js', ...args];
    this.screen = new EmulatedTerminal(columns, rows);
    const { NO_COLOR: _, FORCE_COLOR: __, ...inherited } = process.env as Record<string, string>;
    this.#pty = spawn(program, rest, {
      name: 'xterm-256color',
      cols: columns,
      rows,
      cwd: process.cwd(),
      env: { ...inherited, LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8', ...env },
    });
    this.#pty.onData((text) => {
      void this.screen.write(text).then(() => this.#wake());
    });
    this.#exited = new Promise((resolve) => {
      this.#pty.onExit(({ exitCode, signal }) => {
        void this.#settled().then(() => {
          this.#ended = true;
          resolve(signal ? -signal : exitCode);
          this.#wake();
        });
      });
    });
  }

  /**
   * Resolves with the exit code, or minus the signal, once the emulator has taken in all that was written. Rejects when
   * that takes too long: a story that went wrong before its `q` is to fail, not to hang.
   */
  get exited(): Promise<number> {
    return new Promise((resolve, reject) => {
      const late = () => reject(new Error(`it does not end:\n${this.screen.text}`));
      const timer = setTimeout(late, LATE_MS);
      void this.#exited.then((code) => {
        clearTimeout(timer);
        resolve(code);
      });
    });
  }

  get pid(): number {
    return this.#pty.pid;
  }

  /** Types keys, one read each: letters, and names of keys in angle brackets. */
  async press(keys: string): Promise<void> {
    for (const [, name, letter] of keys.matchAll(/<([a-z-]+)>|(.)/gsu)) {
      this.#pty.write(name === undefined ? (letter ?? '') : (NAMED[name] ?? ''));
      // The next one is to be a read of its own, as a person's is.
      const waitMs = name === 'escape' ? AFTER_ESCAPE_MS : BETWEEN_KEYS_MS;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }

  /** Puts the cursor on an agent, wherever its row is. @param all IDs that the table has, which show that it is whole */
  async select(id: string, all: readonly string[]): Promise<void> {
    await this.press(`/${id}<enter>`);
    await this.shows(new RegExp(`  /${id} .*\n.*> .*${id} [\\s\\S]*q quit$`));
    await this.press('<escape>');
    const rows = all.map((one) => `(?=[\\s\\S]*\n .{20,60}${one} )`).join('');
    await this.shows(new RegExp(`^${rows}[\\s\\S]*\n > .*${id} [\\s\\S]*q quit$`));
  }

  /** Goes to the button of a dialog whose question the servers have answered, and presses it. */
  async confirm(word: string): Promise<void> {
    await this.shows(/^(?![\s\S]*asking the servers)/);
    await this.press('<tab>');
    await this.shows(new RegExp(`\\[ ${word} \\]`));
    await this.press('<enter>');
  }

  /** Writes at once, as a paste arrives. */
  send(text: string): void {
    this.#pty.write(text);
  }

  resize(columns: number, rows: number): void {
    this.screen.resize(columns, rows);
    this.#pty.resize(columns, rows);
  }

  kill(signal: string): void {
    this.#pty.kill(signal);
  }

  /** Resolves with the screen when it matches. @throws when the program ends first, or it takes too long */
  async shows(what: RegExp, lateMs = LATE_MS): Promise<string> {
    const late = Date.now() + lateMs;
    for (;;) {
      if (what.test(this.screen.text)) return this.screen.text;
      if (this.#ended) throw new Error(`it ended before it showed ${what}:\n${this.screen.text}`);
      if (Date.now() > late) throw new Error(`it does not show ${what}:\n${this.screen.text}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, LOOK_AGAIN_MS);
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  /** Ends it if the test did not. */
  async close(): Promise<void> {
    if (!this.#ended) this.#pty.kill('SIGKILL');
    await this.#exited;
  }

  /** The emulator takes text in later than it is given. */
  #settled(): Promise<void> {
    return this.screen.write('');
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}

const BETWEEN_KEYS_MS = 30;
/** What follows at once makes another key of it. */
const AFTER_ESCAPE_MS = 150;
const LOOK_AGAIN_MS = 500;
const LATE_MS = 20_000;
