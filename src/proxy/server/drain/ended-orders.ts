/** An ID that was ended, as it is kept in the state directory. */
export interface EndedId {
  readonly id: string;
  readonly agentId: string;
  readonly atUnixMs: number;
  /**
   * It was `until restart`, and another instance came. The one that it was for may still be alive, and stays under it
   * until it is gone.
   */
  readonly byRestart: boolean;
}

/** How long and how many; tests shrink them. */
export interface EndedBounds {
  readonly keepMs: number;
  readonly most: number;
}

/** One agent cannot push out what is remembered of others. */
const MOST_OF_ONE_AGENT = 64;

/**
 * IDs of orders that ended, so that an end wins over every server and agent that was not there when it happened.
 * The oldest are forgotten. An ID counts for its agent alone.
 */
export class EndedOrders {
  readonly #bounds: EndedBounds;
  readonly #ids = new Map<string, EndedId>();
  readonly #byAgent = new Map<string, Set<string>>();

  constructor(bounds: EndedBounds) {
    this.#bounds = bounds;
  }

  add(ended: EndedId): void {
    const key = keyOf(ended.agentId, ended.id);
    this.#forget(key);
    this.#ids.set(key, ended);
    const ofAgent = this.#byAgent.get(ended.agentId) ?? new Set();
    this.#byAgent.set(ended.agentId, ofAgent.add(key));
    if (ofAgent.size > MOST_OF_ONE_AGENT) this.#forgetFirst(ofAgent);
    if (this.#ids.size > this.#bounds.most) this.#forgetFirst(this.#ids.keys());
  }

  /** Whether an order with that ID ended, however. */
  has(agentId: string, id: string): boolean {
    return this.#ids.has(keyOf(agentId, id));
  }

  /** Whether it ended also for those who are still under it. */
  endedForAll(agentId: string, id: string): boolean {
    return this.#ids.get(keyOf(agentId, id))?.byRestart === false;
  }

  /** Forgets those that are too old. @returns how many */
  expire(nowUnixMs: number): number {
    const before = this.#ids.size;
    for (const [key, { atUnixMs }] of this.#ids) {
      if (nowUnixMs - atUnixMs > this.#bounds.keepMs) this.#forget(key);
    }
    return before - this.#ids.size;
  }

  /** Oldest first. */
  all(): IterableIterator<EndedId> {
    return this.#ids.values();
  }

  #forgetFirst(keys: Iterable<string>): void {
    for (const key of keys) {
      this.#forget(key);
      return;
    }
  }

  #forget(key: string): void {
    const ended = this.#ids.get(key);
    if (ended === undefined) return;
    this.#ids.delete(key);
    const ofAgent = this.#byAgent.get(ended.agentId);
    ofAgent?.delete(key);
    if (ofAgent?.size === 0) this.#byAgent.delete(ended.agentId);
  }
}

/** IDs of orders have no blank in them. */
function keyOf(agentId: string, id: string): string {
  return `${id} ${agentId}`;
}
