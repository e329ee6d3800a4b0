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

/** One agent cannot push out what is remembered of others. */
const MOST_OF_ONE_AGENT = 64;

interface Remembered {
  readonly ended: EndedId;
  readonly monoMs: number;
}

/** A bounded set of IDs of ended orders; the oldest are forgotten. */
export class EndedIds {
  readonly #most: number;
  readonly #ids = new Map<string, Remembered>();
  readonly #byAgent = new Map<string, Set<string>>();

  constructor(most: number) {
    this.#most = most;
  }

  add(ended: EndedId, monoMs: number): void {
    const key = keyOf(ended.agentId, ended.id);
    this.#forget(key);
    this.#ids.set(key, { ended, monoMs });
    const ofAgent = this.#byAgent.get(ended.agentId) ?? new Set();
    this.#byAgent.set(ended.agentId, ofAgent.add(key));
    if (ofAgent.size > MOST_OF_ONE_AGENT) this.#forgetFirst(ofAgent);
    if (this.#ids.size > this.#most) this.#forgetFirst(this.#ids.keys());
  }

  has(agentId: string, id: string): boolean {
    return this.#ids.has(keyOf(agentId, id));
  }

  get(agentId: string, id: string): EndedId | undefined {
    return this.#ids.get(keyOf(agentId, id))?.ended;
  }

  forget(agentId: string, id: string): void {
    this.#forget(keyOf(agentId, id));
  }

  /** Forgets those that ended before. @returns how many */
  expire(beforeMonoMs: number): number {
    const size = this.#ids.size;
    for (const [key, { monoMs }] of this.#ids) if (monoMs < beforeMonoMs) this.#forget(key);
    return size - this.#ids.size;
  }

  /** Oldest first. */
  all(): EndedId[] {
    return [...this.#ids.values()].map(({ ended }) => ended);
  }

  #forgetFirst(keys: Iterable<string>): void {
    for (const key of keys) {
      this.#forget(key);
      return;
    }
  }

  #forget(key: string): void {
    const ended = this.#ids.get(key)?.ended;
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
