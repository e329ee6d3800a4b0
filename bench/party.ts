import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, ftruncateSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CleanUp } from './clean-up.ts';

const LOG_TAIL_CHARS = 2000;

/** A server or an agent: a process that was given flags, and what it prints. */
export class Party {
  readonly #child: ChildProcess;
  readonly #logFile: string;
  readonly #log: number;

  private constructor(child: ChildProcess, logFile: string, log: number) {
    this.#child = child;
    this.#logFile = logFile;
    this.#log = log;
  }

  /**
   * Resolves when the process runs; it is not ready then.
   * @param name unique within the run, fit for a file name
   * @throws Error when the command cannot be started
   */
  static async start(name: string, words: readonly string[], cleanUp: CleanUp): Promise<Party> {
    const [command = '', ...args] = words;
    const logFile = join(cleanUp.directory, `${name}.log`);
    // A file and not a pipe: reading it would cost CPU beside what is measured.
    const log = openSync(logFile, 'a');
    const child = spawn(command, args, { stdio: ['ignore', log, log] });
    cleanUp.process(child);
    return await new Promise((resolve, reject) => {
      child.once('spawn', () => resolve(new Party(child, logFile, log)));
      child.once('error', (error) => reject(new Error(`${command} cannot be started: ${error.message}`)));
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** How it ended though nobody asked it to; undefined while it runs. */
  get ended(): string | number | undefined {
    return this.#child.signalCode ?? this.#child.exitCode ?? undefined;
  }

  /** The end of what it printed. */
  logTail(): string {
    return readFileSync(this.#logFile, 'utf8').slice(-LOG_TAIL_CHARS);
  }

  /** Empties the log, which some peers fill with a line per packet. */
  truncateLog(): void {
    ftruncateSync(this.#log);
  }

  /** Kills it, and resolves when it is gone. */
  async stop(): Promise<void> {
    if (this.ended === undefined) {
      const ended = new Promise((resolve) => this.#child.once('exit', resolve));
      this.#child.kill('SIGKILL');
      await ended;
    }
    closeSync(this.#log);
  }
}
