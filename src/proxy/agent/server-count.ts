/** However many servers are said to be there, an agent believes in no more than this. */
const MOST_SERVERS = 1_000;

/** Upstream's --server-count-source: the Leases alone, or the larger of them and of what servers say. */
export type ServerCountSource = 'default' | 'max';

/** How many servers there are: as servers say when an agent connects, as their Leases say, or both. */
export class ServerCount {
  readonly #source: ServerCountSource | undefined;
  #said = 1;
  #leases = 1;

  /** @param source undefined: Leases are not counted */
  constructor(source: ServerCountSource | undefined) {
    this.#source = source;
  }

  /** A server said so. */
  said(count: number): void {
    this.#said = count;
  }

  /** The Leases say so. */
  counted(count: number): void {
    this.#leases = count;
  }

  /** At least 1. */
  get value(): number {
    return Math.min(Math.max(1, this.#chosen()), MOST_SERVERS);
  }

  #chosen(): number {
    switch (this.#source) {
      case undefined:
        return this.#said;
      case 'default':
        return this.#leases;
      case 'max':
        return Math.max(this.#leases, this.#said);
    }
  }
}
