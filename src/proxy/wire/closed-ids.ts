const REMEMBER_MS = 30_000;
const MOST_PER_GENERATION = 16_384;

/**
 * The connectIDs of one stream that were closed lately. DATA that was in flight at the close then causes no answer,
 * instead of one per packet. Two generations bound both age (30 to 60 s) and size.
 */
export class ClosedIds {
  #recent = new Set<number>();
  #older = new Set<number>();
  #turnedAtMs: number;
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#turnedAtMs = now();
  }

  add(connectId: number): void {
    const nowMs = this.#now();
    if (this.#recent.size >= MOST_PER_GENERATION || nowMs - this.#turnedAtMs > REMEMBER_MS) {
      this.#older = this.#recent;
      this.#recent = new Set();
      this.#turnedAtMs = nowMs;
    }
    this.#recent.add(connectId);
  }

  has(connectId: number): boolean {
    return this.#recent.has(connectId) || this.#older.has(connectId);
  }
}
