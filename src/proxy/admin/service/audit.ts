import { openSync, write } from 'node:fs';
import type { Log } from '../../ops/log.ts';
import { LogFile } from '../../ops/log-file.ts';
import { cut, oneLine } from '../../ops/safe-text.ts';
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

/** What changed nothing can be asked for as often as one likes, by viewers too: no more of it within a minute. */
const MOST_WITHOUT_CHANGE = 200;
const MINUTE_MS = 60_000;
const MOST_ACTOR_CHARACTERS = 1_024;
const MOST_REQUEST_CHARACTERS = 2_000;

/** Writes each change once: to the log, and as a line of JSON to a file where one is wanted. */
export class Audit {
  readonly #log: Log;
  readonly #file: LogFile | undefined;
  #closed: Promise<void> | undefined;
  #minuteBeganMs = Number.NEGATIVE_INFINITY;
  #withoutChange = 0;
  #unrecorded = 0;

  /** @param path of --audit-log; empty for none. @throws Fault `log-file-unwritable` */
  constructor(log: Log, path = '') {
    this.#log = log;
    this.#file = path === '' ? undefined : openAuditFile(path, log);
  }

  add(entry: AuditEntry): void {
    if (!this.#takes(entry)) {
      this.#unrecorded++;
      return;
    }
    const { method, actorClaimed, caller, result, message } = entry;
    const actor = cut(entry.actor, MOST_ACTOR_CHARACTERS);
    const request = this.#shown(entry);
    const unrecorded = this.#unrecorded === 0 ? {} : { unrecorded: this.#unrecorded };
    this.#unrecorded = 0;
    this.#log.info(0, 'Admin change', {
      method,
      actor: actor === '' ? 'unknown' : oneLine(actor, 200),
      actorClaimed,
      remote: caller.remote,
      result,
      ...(message === '' ? {} : { message: oneLine(message, 500) }),
      request: oneLine(JSON.stringify(request), 500),
      ...unrecorded,
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
        ...unrecorded,
      })}\n`,
    );
  }

  #takes({ result }: AuditEntry): boolean {
    if (result === 'done') return true;
    const nowMs = performance.now();
    if (nowMs - this.#minuteBeganMs >= MINUTE_MS) {
      this.#minuteBeganMs = nowMs;
      this.#withoutChange = 0;
    }
    return ++this.#withoutChange <= MOST_WITHOUT_CHANGE;
  }

  /** Whole where it changed something. */
  #shown({ request, result }: AuditEntry): object | string {
    if (result === 'done') return request;
    const text = JSON.stringify(request);
    return text.length <= MOST_REQUEST_CHARACTERS ? request : cut(text, MOST_REQUEST_CHARACTERS);
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
