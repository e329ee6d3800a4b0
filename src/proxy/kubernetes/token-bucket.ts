/** What a bucket lets through. */
export interface TokenBucketOptions {
  /** Requests per second in the long run; negative: no limit. */
  readonly perSecond: number;
  /** Requests at once. */
  readonly burst: number;
  /** Who would have to wait longer is refused at once. */
  readonly mostWaitMs: number;
  readonly now?: () => number;
}

/** Limits requests per second, as client-go does; in the order in which they come, and with a bounded wait. */
export class TokenBucket {
  readonly #options: TokenBucketOptions;
  readonly #now: () => number;
  /** Below zero: that many requests have their turn to come. */
  #tokens: number;
  #filledAtMs: number;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#tokens = options.burst;
    this.#filledAtMs = this.#now();
  }

  /** Takes a turn and returns in how many milliseconds it comes; undefined when that is too long: no turn is taken. */
  take(): number | undefined {
    const { perSecond, burst, mostWaitMs } = this.#options;
    const now = this.#now();
    const pauseMs = this.pausedMs;
    if (perSecond < 0) return pauseMs <= mostWaitMs ? pauseMs : undefined;
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAtMs) / 1000) * perSecond);
    this.#filledAtMs = now;
    const waitMs = Math.max(pauseMs, ((1 - this.#tokens) / perSecond) * 1000);
    if (waitMs > mostWaitMs) return undefined;
    this.#tokens -= 1;
    return waitMs;
  }

  /** Gives back a turn that was not used. */
  giveBack(): void {
    this.#tokens += 1;
  }

  /** How long nobody's turn comes, from now. */
  get pausedMs(): number {
    return Math.max(0, this.#pausedUntilMs - this.#now());
  }

  /** Nobody's turn comes within that time. */
  pause(ms: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#now() + ms);
  }
}
