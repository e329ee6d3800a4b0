import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const AGAIN_MS = 500;
const KILL_MS = 5_000;

/** A program that runs until it is stopped; it logs into a file of its name. */
export class Program {
  readonly name: string;
  readonly exited: Promise<void>;
  readonly #child: ChildProcess;
  readonly #logFile: string;

  constructor(name: string, directory: string, command: readonly string[]) {
    this.name = name;
    this.#logFile = join(directory, `${name}.log`);
    const log = openSync(this.#logFile, 'a');
    const [program = '', ...args] = command;
    this.#child = spawn(program, args, { stdio: ['ignore', log, log] });
    closeSync(log);
    this.exited = new Promise((resolve) => {
      this.#child.once('exit', () => resolve());
      this.#child.once('error', () => resolve());
    });
  }

  get running(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get log(): string {
    return readFileSync(this.#logFile, 'utf8');
  }

  /** SIGTERM, another one for a Go agent, which only drains at the first, and SIGKILL for what is left. */
  async stop(): Promise<void> {
    const signal = (name: NodeJS.Signals): void => {
      if (this.running) this.#child.kill(name);
    };
    signal('SIGTERM');
    const again = setTimeout(() => signal('SIGTERM'), AGAIN_MS);
    const kill = setTimeout(() => signal('SIGKILL'), KILL_MS);
    await this.exited;
    clearTimeout(again);
    clearTimeout(kill);
  }
}
