/** A stream, and what its server said last: ready agents that could replace this one there; -1 when it said nothing. */
interface ToldOf {
  replacements: number;
}

/**
 * What all servers together say of how many agents could replace this one: a server knows of its own agents alone, so
 * the agent carries the least of it to all of them.
 */
export class Replacements {
  readonly #links: () => Iterable<ToldOf>;
  #drainsFor = '';

  constructor(links: () => Iterable<ToldOf>) {
    this.#links = links;
  }

  /** The least that the servers say; -1 while one of them has not said anything, or the agent does not drain. */
  get least(): number {
    let least = Number.POSITIVE_INFINITY;
    if (this.#drainsFor !== '') for (const link of this.#links()) least = Math.min(least, link.replacements);
    return least === Number.POSITIVE_INFINITY ? -1 : least;
  }

  /**
   * Why the agent drains now, empty when it does not. What servers said before is forgotten with another reason: they
   * say it anew, and may have stopped keeping it up to date meanwhile.
   */
  drainsFor(why: string): void {
    if (why === this.#drainsFor) return;
    this.#drainsFor = why;
    for (const link of this.#links()) link.replacements = -1;
  }
}
