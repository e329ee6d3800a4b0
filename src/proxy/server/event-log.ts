import { RecentRing } from './recent-ring.ts';

/** What the server tells of itself to those that watch it: a closed list, with meanings in docs/ADMIN.md. */
export const eventTypes = [
  'server-started',
  'server-stopping',
  'agent-connected',
  'agent-disconnected',
  'agent-leaving',
  'agent-late',
  'agent-unresponsive',
  'agent-answers-again',
  'pool-out-of-ready',
  'pool-ready-again',
  'all-out-of-ready',
  'all-ready-again',
  'order-placed',
  'order-updated',
  'order-relayed',
  'order-ended',
  'order-overdue',
  'drain-cleared',
  'orders-not-kept',
  'orders-kept',
  'orders-damaged',
  'tunnel-closed-by-operator',
] as const;

export type EventType = (typeof eventTypes)[number];

/** What an event says, without what the log adds. */
export interface EventFields {
  /** In words. */
  readonly message: string;
  readonly agent?: string;
  readonly actor?: string;
  readonly orderId?: string;
}

export interface ServerEvent extends EventFields {
  /** From 1, without gaps. */
  readonly number: number;
  readonly atUnixMs: number;
  readonly type: EventType;
}

const MOST_EVENTS = 10_000;

/** The last events of this server. Readers keep their own place; one that is too slow finds a gap in the numbers. */
export class EventLog {
  readonly #ring: RecentRing<ServerEvent>;
  readonly #listeners = new Set<() => void>();
  readonly #now: () => number;

  constructor(options: { readonly most?: number; readonly now?: () => number } = {}) {
    this.#ring = new RecentRing(options.most ?? MOST_EVENTS);
    this.#now = options.now ?? Date.now;
  }

  /** The number of the newest event; 0 before the first. */
  get last(): number {
    return this.#ring.added;
  }

  /** The number of the oldest that is still here. */
  get first(): number {
    return this.#ring.added - this.#ring.size + 1;
  }

  add(type: EventType, fields: EventFields): void {
    this.#ring.add({ ...fields, type, number: this.#ring.added + 1, atUnixMs: this.#now() });
    for (const listener of [...this.#listeners]) listener();
  }

  /** @returns undefined for one that is not there, or not any more */
  at(number: number): ServerEvent | undefined {
    return this.#ring.at(number - 1);
  }

  newestFirst(): Generator<ServerEvent> {
    return this.#ring.newestFirst();
  }

  /** Calls back after each event. @returns the way out */
  onAdd(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
