import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Everything that must not outlive the bench: child processes and one temporary directory. */
export class CleanUp {
  readonly directory: string;
  readonly #processes = new Set<ChildProcess>();
  readonly #onSignal = (signal: NodeJS.Signals): void => {
    this.run();
    process.stderr.write(`\nstopped by ${signal}\n`);
    process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  readonly #onExit = (): void => this.run();

  constructor() {
    this.directory = mkdtempSync(join(tmpdir(), 'kts-bench-'));
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
    process.on('exit', this.#onExit);
  }

  process(child: ChildProcess): void {
    this.#processes.add(child);
    child.once('exit', () => this.#processes.delete(child));
  }

  /** Synchronous, so that it also works on the way out. The processes hold nothing worth a gentle end. */
  run(): void {
    for (const child of this.#processes) child.kill('SIGKILL');
    rmSync(this.directory, { recursive: true, force: true });
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
    process.off('exit', this.#onExit);
  }
}
