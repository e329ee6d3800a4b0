/**
 * kube-apiserver loses tunnel bytes and ends that reach it in the same read as the answer to its dial (gRPC: 735 of
 * 1,000 when the destination speaks first; CONNECT: it kills the tunnel). So after that answer everything is held
 * back for a moment, in order, or until the client itself sends something, which proves that it is listening.
 */
export class Hold {
  readonly #held: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #bytes = 0;

  readonly #onReleased: () => void;

  /**
   * Starts to hold for `holdMs`.
   * @param onReleased told behind a release: writes that complete at once cause no `drain`, and without one the agent
   *   would never be granted what it sent into the hold
   */
  constructor(holdMs: number, onReleased: () => void) {
    this.#onReleased = onReleased;
    this.#timer = setTimeout(() => this.release(), holdMs);
  }

  get holding(): boolean {
    return this.#timer !== undefined;
  }

  /** Payload bytes that wait here. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps an action for later. Call only while holding. Bounded by the tunnel's window or buffer bounds. */
  add(bytes: number, action: () => void): void {
    this.#bytes += bytes;
    this.#held.push(action);
  }

  /** Runs what was held, in order, and holds nothing more. */
  release(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#bytes = 0;
    for (const action of this.#held.splice(0)) action();
    this.#onReleased();
  }

  /** Forgets what was held: the client is gone. */
  drop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#bytes = 0;
    this.#held.length = 0;
  }
}
