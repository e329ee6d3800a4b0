/**
 * A set that can be picked from by position: an array without gaps, and the position of each item. Adding, removing
 * and reading a position are O(1); removal moves the last item into the gap, so positions carry no meaning of their
 * own and a uniform random position is a uniform random item.
 */
export class IndexedSet<T> {
  readonly #items: T[] = [];
  readonly #positions = new Map<T, number>();

  get size(): number {
    return this.#items.length;
  }

  has(item: T): boolean {
    return this.#positions.has(item);
  }

  /** The item at a position from 0 to size - 1. */
  at(position: number): T {
    return this.#items[position] as T;
  }

  /** Where the item is now; -1 when it is not here. */
  positionOf(item: T): number {
    return this.#positions.get(item) ?? -1;
  }

  /** Does nothing when the item is here already. */
  add(item: T): void {
    if (this.#positions.has(item)) return;
    this.#positions.set(item, this.#items.length);
    this.#items.push(item);
  }

  /** True when the item was here. */
  delete(item: T): boolean {
    const position = this.#positions.get(item);
    if (position === undefined) return false;
    const last = this.#items.pop() as T;
    this.#positions.delete(item);
    if (last !== item) {
      this.#items[position] = last;
      this.#positions.set(last, position);
    }
    return true;
  }
}
