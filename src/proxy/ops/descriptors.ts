import { readdirSync, readFileSync } from 'node:fs';
import { Fault } from './fault.ts';
import type { Log } from './log.ts';

/** A count is believed for so long, unless much was opened since. */
const COUNT_AGE_MS = 1_000;
/** Counting reads a directory with an entry for each descriptor: no more often than this. */
const COUNT_PAUSE_MS = 100;

/** What Descriptors measure; tests give their own. */
export interface DescriptorSource {
  /** How many this process may have open; infinite where the system does not say. */
  readonly limit: number;
  /** How many it has open. */
  count(): number;
  now(): number;
}

/**
 * Whether this process is about to run out of file descriptors. Beyond that point accepts and connects fail one by
 * one and without a word (libuv closes what it cannot take). So new tunnels are refused a little before it, while there
 * is still room to say so and for agents, probes and scrapes; and before that, connections that ask for nothing go.
 */
export class Descriptors {
  readonly limit: number;
  readonly #reserve: number;
  readonly #source: DescriptorSource;
  readonly #log: Log;
  #counted = 0;
  #countedAtMs = Number.NEGATIVE_INFINITY;
  /** Since the count, less those that were closed. */
  #opened = 0;
  #scarce = false;

  constructor(log: Log, source: DescriptorSource = ofThisProcess()) {
    this.#log = log;
    this.#source = source;
    this.limit = source.limit;
    this.#reserve = Math.max(32, Math.min(256, Math.floor(source.limit / 16)));
  }

  /** How many connections that ask for nothing each listener keeps while accepted() says that it is crowded. */
  get newcomersWhenCrowded(): number {
    return Math.floor(this.#reserve / 8);
  }

  /** Told of each accepted connection: true when those that ask for nothing must make room, long before tunnels. */
  accepted(): boolean {
    if (this.limit === Number.POSITIVE_INFINITY) return false;
    this.#opened++;
    this.#maybeCount();
    return this.#counted + this.#opened > this.limit - 2 * this.#reserve;
  }

  /** One of those is closed. */
  closed(): void {
    this.#opened--;
  }

  /** Asked before each connection that is made: true when it must not be. Says once when that begins and ends. */
  refuseOneMore(): boolean {
    this.#opened++;
    return this.refuses();
  }

  /** The same for what needs no descriptor beside those that were accepted. */
  refuses(): boolean {
    if (this.limit === Number.POSITIVE_INFINITY) return false;
    this.#maybeCount();
    return this.#scarce || this.#counted + this.#opened > this.limit - this.#reserve;
  }

  #maybeCount(): void {
    const ageMs = this.#source.now() - this.#countedAtMs;
    const room = this.limit - this.#reserve - this.#counted;
    const enough = !this.#scarce && this.#opened < room / 4;
    if (ageMs >= COUNT_AGE_MS || (!enough && ageMs >= COUNT_PAUSE_MS)) this.#count();
  }

  #count(): void {
    this.#counted = this.#source.count();
    this.#countedAtMs = this.#source.now();
    this.#opened = 0;
    const scarce = this.#counted > this.limit - this.#reserve;
    if (scarce === this.#scarce) return;
    this.#scarce = scarce;
    const fields = { open: this.#counted, limit: this.limit };
    if (scarce) this.#log.warning('Out of file descriptors: new dials are refused', fields);
    else this.#log.info(1, 'There are file descriptors again: new dials are taken', fields);
  }
}

/** The refusal of a dial by a process that is at its limit, in the words of the system that servers know. */
export function outOfDescriptors(address: string, limit: number): Fault {
  return new Fault(
    'out-of-descriptors',
    `dial ${address}: too many open files: the agent is at its limit of ${limit} descriptors`,
    'raise the limit',
  );
}

/** Linux says both in /proc; elsewhere there is no limit as far as is known. */
function ofThisProcess(): DescriptorSource {
  let limit = Number.POSITIVE_INFINITY;
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
    if (soft !== undefined) limit = Number(soft);
  } catch {
    // Not Linux.
  }
  return { limit, count: () => readdirSync('/proc/self/fd').length, now: () => performance.now() };
}
