/** Values that are forgotten after a time; of too many, the oldest go first. */
export class ExpiringMap<T> {
  readonly #keepMs: number;
  readonly #most: number;
  readonly #now: () => number;
  /** In the order in which they expire. */
  readonly #entries = new Map<string, { readonly value: T; readonly untilMs: number }>();

  constructor(keepMs: number, most: number, now: () => number) {
    this.#keepMs = keepMs;
    this.#most = most;
    this.#now = now;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && entry.untilMs > this.#now() ? entry.value : undefined;
  }

  set(key: string, value: T): void {
    const now = this.#now();
    this.#entries.delete(key);
    this.#entries.set(key, { value, untilMs: now + this.#keepMs });
    for (const [oldest, { untilMs }] of this.#entries) {
      if (untilMs > now && this.#entries.size <= this.#most) break;
      this.#entries.delete(oldest);
    }
  }
}
