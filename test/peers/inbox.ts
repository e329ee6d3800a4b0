/** Things that arrive, and promises for those that have yet to: how tests wait without sleeping. */
export class Inbox<T> {
  readonly all: T[] = [];
  readonly #waiting: { wanted: (item: T) => boolean; resolve: (item: T) => void }[] = [];
  #taken = 0;

  push(item: T): void {
    this.all.push(item);
    const index = this.#waiting.findIndex(({ wanted }) => wanted(item));
    if (index >= 0) this.#waiting.splice(index, 1)[0]?.resolve(item);
  }

  /** The first item that is wanted, of those that arrived since the last call that found one, or to come. */
  next(wanted: (item: T) => boolean = () => true): Promise<T> {
    for (let i = this.#taken; i < this.all.length; i++) {
      const item = this.all[i] as T;
      if (wanted(item)) {
        this.#taken = i + 1;
        return Promise.resolve(item);
      }
    }
    return new Promise((resolve) => {
      this.#waiting.push({
        wanted,
        resolve: (item) => {
          this.#taken = this.all.length;
          resolve(item);
        },
      });
    });
  }

  get waiting(): number {
    return this.#waiting.length;
  }
}
