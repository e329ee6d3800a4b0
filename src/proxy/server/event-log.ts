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
/** What agents cause as often as they like, so that one cannot push out what is told of all others. */
const CAUSED_BY_AGENTS: ReadonlySet<EventType> = new Set<EventType>([
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
  'order-relayed',
  'order-ended',
]);
const MOST_OF_ONE_CAUSE = 60;
const MINUTE_MS = 60_000;
const MOST_CAUSES = 20_000;
/** Causes whose number of untold events is kept beyond its minute. */
const MOST_OWED = 1_000;

/** The last events of this server. Readers keep their own place; one that is too slow finds a gap in the numbers. */
export class EventLog {
  readonly #ring: RecentRing<ServerEvent>;
  readonly #listeners = new Set<() => void>();
  readonly #now: () => number;
  readonly #monoMs: () => number;
  /** Of this minute: by agent, or where there is none by what is told. */
  #causes = new Map<string, { told: number; untold: number }>();
  #minuteBeganMs = Number.NEGATIVE_INFINITY;

  constructor(
    options: { readonly most?: number; readonly now?: () => number; readonly monoMs?: () => number } = {},
  ) {
    this.#ring = new RecentRing(options.most ?? MOST_EVENTS);
    this.#now = options.now ?? Date.now;
    this.#monoMs = options.monoMs ?? (() => performance.now());
  }

  /** The number of the newest event; 0 before the first. */
  get last(): number {
    return this.#ring.added;
  }

  /** The number of the oldest that is still here. */
  get first(): number {
    return this.#ring.added - this.#ring.size + 1;
  }

  /** Of one agent no more than 60 within a minute are kept; how many were not is said with its next one. */
  add(type: EventType, fields: EventFields): void {
    const untold = this.#untold(type, fields);
    if (untold === undefined) return;
    const message =
      untold === 0 ? fields.message : `${fields.message} (after ${untold} events that are left out)`;
    this.#ring.add({ ...fields, message, type, number: this.#ring.added + 1, atUnixMs: this.#now() });
    for (const listener of [...this.#listeners]) listener();
  }

  /** How many were left out before this one; undefined where it is left out itself. */
  #untold(type: EventType, { agent, actor, message }: EventFields): number | undefined {
    // What an operator did is always told; an order that an agent relays names its operator too.
    const byAgents = type === 'order-relayed' || (CAUSED_BY_AGENTS.has(type) && actor === undefined);
    if (!byAgents) return 0;
    const nowMs = this.#monoMs();
    if (nowMs - this.#minuteBeganMs >= MINUTE_MS) {
      this.#minuteBeganMs = nowMs;
      const left = [...this.#causes].filter(([, { untold }]) => untold > 0).slice(-MOST_OWED);
      this.#causes = new Map(left.map(([key, { untold }]) => [key, { told: 0, untold }]));
    }
    const own = agent ?? message;
    // Of more agents than that within a minute, the rest counts as one.
    const key = this.#causes.has(own) || this.#causes.size < MOST_CAUSES ? own : '';
    const cause = this.#causes.get(key) ?? { told: 0, untold: 0 };
    this.#causes.set(key, cause);
    if (cause.told >= MOST_OF_ONE_CAUSE) {
      cause.untold++;
      return undefined;
    }
    const { untold } = cause;
    this.#causes.set(key, { told: cause.told + 1, untold: 0 });
    return untold;
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
