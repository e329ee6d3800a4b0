/** The last so many of something; the oldest makes room. */
export class RecentRing<Item> {
  readonly #items: Item[] = [];
  readonly #most: number;
  /** How many were ever added. */
  #added = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#items.length;
  }

  get added(): number {
    return this.#added;
  }

  add(item: Item): void {
    this.#items[this.#added % this.#most] = item;
    this.#added++;
  }

  /** The item that was added as the given one, counted from 0; undefined when it is not there, or not any more. */
  at(position: number): Item | undefined {
    if (position < this.#added - this.size || position >= this.#added) return undefined;
    return this.#items[position % this.#most];
  }

  *newestFirst(): Generator<Item> {
    const last = this.#added;
    for (let i = last - 1; i >= last - this.size; i--) {
      const item = this.at(i);
      // Overwritten while the reader paused.
      if (item === undefined) return;
      yield item;
    }
  }
}
