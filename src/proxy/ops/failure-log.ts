import type { Clock } from './clock.ts';
import type { Fault } from './fault.ts';
import type { Fields, Log } from './log.ts';

const EVERY_MS = 60_000;

/**
 * Says that something that is tried again and again has begun to fail, each reason once, and that it works again. A
 * reason that comes and goes is said once a minute.
 */
export class FailureLog {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #what: string;
  /** The reasons since it last worked. */
  readonly #codes = new Set<string>();
  readonly #saidAtMs = new Map<string, number>();
  #said = false;

  /** @param what does not work, as the begin of a sentence: `The Lease cannot be renewed` */
  constructor(what: string, log: Log, clock: Clock) {
    this.#what = what;
    this.#log = log;
    this.#clock = clock;
  }

  failed(fault: Fault, fields: Fields = {}): void {
    if (this.#codes.has(fault.code)) return;
    this.#codes.add(fault.code);
    const now = this.#clock.monoMs();
    if (now - (this.#saidAtMs.get(fault.code) ?? Number.NEGATIVE_INFINITY) < EVERY_MS) return;
    this.#saidAtMs.set(fault.code, now);
    this.#said = true;
    this.#log.warning(this.#what, { ...fields, reason: fault.line });
  }

  /** @param message for the first success after a failure that was said */
  worked(message: string, fields: Fields = {}): void {
    this.#codes.clear();
    if (this.#said) this.#log.info(1, message, fields);
    this.#said = false;
  }
}
