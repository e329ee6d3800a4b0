const REMEMBER_MS = 30_000;
const MOST_PER_GENERATION = 16_384;

/**
 * IDs of one stream that ended lately: connectIDs, so that DATA in flight at a close causes no answer instead of one
 * per packet, or dial IDs. Two generations bound both age (30 to 60 s) and size.
 */
export class RecentIds<Id extends number | bigint> {
  #recent = new Set<Id>();
  #older = new Set<Id>();
  #turnedAtMs: number;
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#turnedAtMs = now();
  }

  add(id: Id): void {
    const nowMs = this.#now();
    if (this.#recent.size >= MOST_PER_GENERATION || nowMs - this.#turnedAtMs > REMEMBER_MS) {
      this.#older = this.#recent;
      this.#recent = new Set();
      this.#turnedAtMs = nowMs;
    }
    this.#recent.add(id);
  }

  has(id: Id): boolean {
    return this.#recent.has(id) || this.#older.has(id);
  }

  /** Forgets an ID; true when it was remembered. */
  delete(id: Id): boolean {
    const recent = this.#recent.delete(id);
    return this.#older.delete(id) || recent;
  }
}
