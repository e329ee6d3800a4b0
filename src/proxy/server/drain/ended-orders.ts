import { type EndedId, EndedIds } from './ended-ids.ts';

/** How long and how many, of either kind; tests shrink them. */
export interface EndedBounds {
  readonly keepMs: number;
  readonly most: number;
}

/**
 * IDs of orders that ended, so that an end wins over every server and agent that was not there when it happened.
 * An ID counts for its agent alone. What operators ended here, and what was placed here, is apart from what agents
 * alone say: they may say as much as they like, and push out their own words.
 */
export class EndedOrders {
  readonly #bounds: EndedBounds;
  readonly #own: EndedIds;
  readonly #heard: EndedIds;

  constructor(bounds: EndedBounds) {
    this.#bounds = bounds;
    this.#own = new EndedIds(bounds.most);
    this.#heard = new EndedIds(bounds.most);
  }

  /** @param monoMs when, on the clock that never goes back: a jump of the other one forgets nothing */
  add(ended: EndedId, monoMs: number): void {
    this.#heard.forget(ended.agentId, ended.id);
    this.#own.add(ended, monoMs);
  }

  /** By the word of an agent alone. */
  addHeard(ended: EndedId, monoMs: number): void {
    if (!this.#own.has(ended.agentId, ended.id)) this.#heard.add(ended, monoMs);
  }

  /** Whether an order with that ID ended, however. */
  has(agentId: string, id: string): boolean {
    return this.#own.has(agentId, id) || this.#heard.has(agentId, id);
  }

  /** Whether it ended also for those who are still under it. */
  endedForAll(agentId: string, id: string): boolean {
    return (this.#own.get(agentId, id) ?? this.#heard.get(agentId, id))?.byRestart === false;
  }

  /** Forgets those that are too old. @returns how many of those that are kept in the state directory */
  expire(monoMs: number): number {
    const before = monoMs - this.#bounds.keepMs;
    this.#heard.expire(before);
    return this.#own.expire(before);
  }

  /** Those that are kept in the state directory, oldest first: agents remember their own words. */
  kept(): EndedId[] {
    return this.#own.all();
  }
}
