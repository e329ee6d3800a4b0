import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { CleanUp } from './clean-up.ts';
import type { AnswerMessage, CallMessage } from './worker.ts';

/** The worker did not answer in time; it may still be at it. */
export class CallTimeout extends Error {}

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** The bench's side of a worker: a process of its own that answers calls. */
export class WorkerProcess {
  readonly pid: number;
  readonly #name: string;
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #gone = false;

  /** Starts `file` (beside this one) as a worker. */
  constructor(file: string, cleanUp: CleanUp) {
    this.#name = file;
    this.#child = fork(fileURLToPath(new URL(file, import.meta.url)), {
      // Marked in one go, as in serve and agent: the load is to cost as little as it can.
      execArgv: ['--no-incremental-marking', '--import', import.meta.resolve('tsx')],
      // glibc would give the memory of read buffers back with every collection and fault it in again: up to a third of
      // what a destination costs, in some of the runs and not in others.
      env: { ...process.env, MALLOC_TRIM_THRESHOLD_: '67108864', MALLOC_MMAP_THRESHOLD_: '33554432' },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    cleanUp.process(this.#child);
    this.pid = this.#child.pid ?? 0;
    this.#child.on('message', (message: AnswerMessage) => this.#answered(message));
    this.#child.on('exit', (code, signal) => {
      this.#gone = true;
      for (const { reject } of this.#pending.values()) reject(new Error(`${file} ended: ${signal ?? code}`));
      this.#pending.clear();
    });
  }

  /** Calls the worker. @throws Error the worker's own, or one that says that it ended or was silent for `timeoutMs` */
  async call<Result>(name: string, argument: unknown = undefined, timeoutMs = 20_000): Promise<Result> {
    if (this.#gone) throw new Error(`${this.#name} is gone`);
    const id = this.#nextId++;
    let timer: NodeJS.Timeout | undefined;
    try {
      return (await new Promise<unknown>((resolve, reject) => {
        this.#pending.set(id, { resolve, reject });
        const reason = `${name}: no answer within ${timeoutMs} ms`;
        timer = setTimeout(() => reject(new CallTimeout(reason)), timeoutMs);
        this.#child.send({ id, name, argument } satisfies CallMessage);
      })) as Result;
    } finally {
      clearTimeout(timer);
      this.#pending.delete(id);
    }
  }

  #answered({ id, result, error }: AnswerMessage): void {
    const pending = this.#pending.get(id);
    if (error === undefined) pending?.resolve(result);
    else pending?.reject(new Error(error));
  }
}
