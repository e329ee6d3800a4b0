import type { FrontendTunnel } from './frontend.ts';

/** The tunnel behind a hold. */
export type HoldWaiter = Pick<FrontendTunnel, 'frontendDrained'>;

/**
 * kube-apiserver loses tunnel bytes and ends that reach it in the same read as the answer to its dial (gRPC: 735 of
 * 1,000 when the destination speaks first; CONNECT: it kills the tunnel). So after that answer everything is held
 * back for a moment, in order, or until the client itself sends something, which proves that it is listening.
 */
export class Hold {
  #held: (() => void)[] | undefined;
  #timer: NodeJS.Timeout | undefined;
  #bytes = 0;

  readonly #waiting: HoldWaiter;

  /**
   * Starts to hold for `holdMs`.
   * @param waiting told behind a release: writes that complete at once cause no `drain`, and without one the agent
   *   would never be granted what it sent into the hold
   */
  constructor(holdMs: number, waiting: HoldWaiter) {
    this.#waiting = waiting;
    this.#timer = setTimeout(release, holdMs, this);
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
    this.#held ??= [];
    this.#held.push(action);
  }

  /** Runs what was held, in order, and holds nothing more. */
  release(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#bytes = 0;
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) for (const action of held) action();
    this.#waiting.frontendDrained();
  }

  /** Forgets what was held: the client is gone. */
  drop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#bytes = 0;
    this.#held = undefined;
  }
}

function release(hold: Hold): void {
  hold.release();
}
