import type { Writable } from 'node:stream';

/** What a command may touch of the outside: handed in, so that tests run commands without a process. */
export interface CommandIo {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly interrupted: AbortSignal;
  /** Aborted by the second one. */
  readonly killed: AbortSignal;
}

/** The io of this process. Signals are taken over from here on: the command decides what they mean. */
export function processIo(): CommandIo {
  const first = new AbortController();
  const second = new AbortController();
  const onSignal = (): void => {
    if (first.signal.aborted) second.abort();
    else first.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    interrupted: first.signal,
    killed: second.signal,
  };
}
