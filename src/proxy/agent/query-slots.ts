import { Fault } from '../ops/fault.ts';

export interface QuerySlotsOptions {
  /** Queries that may be under way at once. */
  max: number;
  /** Queries that may wait for a slot; one more fails at once with `dns-failed`. */
  maxWaiting: number;
  /**
   * While others wait, the oldest query gives up its slot once it went unanswered for this long: names with a silent
   * name server must not use up all slots for their whole time-out.
   */
  yieldAfterMs: number;
}

interface Query {
  startedAtMs: number;
  begin(): void;
  giveUp(): void;
}

/** Bounds the queries under way, first come, first served. */
export class QuerySlots {
  readonly #options: QuerySlotsOptions;
  // Both in order of insertion: the first is the oldest.
  readonly #running = new Set<Query>();
  readonly #waiting = new Set<Query>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: QuerySlotsOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running.size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Starts the query when there is room. Rejects with `signal.reason` on abort; frees the slot in the same tick. */
  run<T>(start: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      if (this.#running.size >= this.#options.max && this.#waiting.size >= this.#options.maxWaiting) {
        return reject(new Fault('dns-failed', 'too many names are waiting for a name server'));
      }
      const end = (settle: () => void): void => {
        if (!this.#running.delete(query) && !this.#waiting.delete(query)) return;
        signal.removeEventListener('abort', onAbort);
        settle();
        this.#fill();
      };
      const onAbort = (): void => end(() => reject(signal.reason));
      const query: Query = {
        startedAtMs: 0,
        begin: () => {
          start().then(
            (value) => end(() => resolve(value)),
            (error) => end(() => reject(error)),
          );
        },
        giveUp: () => end(() => reject(new Fault('dns-timeout', 'i/o timeout, given up for newer look-ups'))),
      };
      signal.addEventListener('abort', onAbort);
      this.#waiting.add(query);
      this.#fill();
    });
  }

  #fill(): void {
    const { max, yieldAfterMs } = this.#options;
    for (const query of this.#waiting) {
      if (this.#running.size >= max) break;
      this.#waiting.delete(query);
      this.#running.add(query);
      query.startedAtMs = performance.now();
      query.begin();
    }
    clearTimeout(this.#timer);
    const oldest = this.#running.values().next().value;
    if (this.#waiting.size === 0 || oldest === undefined) return;
    const leftMs = oldest.startedAtMs + yieldAfterMs - performance.now();
    this.#timer = setTimeout(() => oldest.giveUp(), Math.max(1, leftMs));
  }
}
