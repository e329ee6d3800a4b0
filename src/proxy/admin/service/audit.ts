import { openSync, write } from 'node:fs';
import type { Log } from '../../ops/log.ts';
import { LogFile } from '../../ops/log-file.ts';
import { oneLine } from '../../ops/safe-text.ts';
import type { Caller } from './caller.ts';

/** A change that was asked for by the admin API, and what became of it. */
export interface AuditEntry {
  readonly method: string;
  readonly actor: string;
  /** The actor is what the client of the Unix socket says of itself. */
  readonly actorClaimed: boolean;
  readonly caller: Caller;
  readonly request: object;
  /** `done`, `unchanged`, `validated`, or the code of a refusal. */
  readonly result: string;
  /** In words; empty for what went well. */
  readonly message: string;
}

/** Writes each change once: to the log, and as a line of JSON to a file where one is wanted. */
export class Audit {
  readonly #log: Log;
  readonly #file: LogFile | undefined;
  #closed: Promise<void> | undefined;

  /** @param path of --audit-log; empty for none. @throws Fault `log-file-unwritable` */
  constructor(log: Log, path = '') {
    this.#log = log;
    this.#file = path === '' ? undefined : openAuditFile(path, log);
  }

  add(entry: AuditEntry): void {
    const { method, actor, actorClaimed, caller, request, result, message } = entry;
    this.#log.info(0, 'Admin change', {
      method,
      actor: actor === '' ? 'unknown' : oneLine(actor, 200),
      actorClaimed,
      remote: caller.remote,
      result,
      ...(message === '' ? {} : { message: oneLine(message, 500) }),
      request: oneLine(JSON.stringify(request), 500),
    });
    this.#file?.write(
      `${JSON.stringify({
        time: new Date().toISOString(),
        method,
        actor,
        actorClaimed,
        role: caller.role,
        remote: caller.remote,
        result,
        ...(message === '' ? {} : { message }),
        request,
      })}\n`,
    );
  }

  /** Lets the disk take what waits. */
  async close(): Promise<void> {
    this.#closed ??= this.#file?.close() ?? Promise.resolve();
    await this.#closed;
  }
}

function openAuditFile(path: string, log: Log): LogFile {
  let said = false;
  return new LogFile({
    path: () => path,
    label: '--audit-log',
    maxBytes: Number.POSITIVE_INFINITY,
    head: () => '',
    format: 'json',
    elsewhere: () => {
      // The log itself has every entry already.
      if (!said) log.warning('the audit log cannot be written; its entries are in this log', { path });
      said = true;
    },
    calls: {
      open: (file, flags) => openSync(file, flags, 0o600),
      write: (fd, bytes, done) => write(fd, bytes, 0, bytes.length, null, done),
    },
  });
}
