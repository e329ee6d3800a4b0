/**
 * Ended tunnels whose last bytes are still on their way to the client: a server that stops waits for them, within its
 * grace period.
 */
export class Tails {
  readonly #onQuiet: () => void;
  #left = 0;

  /** @param onQuiet told when the last one is through */
  constructor(onQuiet: () => void) {
    this.#onQuiet = onQuiet;
  }

  get left(): number {
    return this.#left;
  }

  /** Counts one in; the function that is returned counts it out, once. */
  begin(): () => void {
    this.#left++;
    let over = false;
    return () => {
      if (over) return;
      over = true;
      this.#left--;
      if (this.#left === 0) this.#onQuiet();
    };
  }
}
