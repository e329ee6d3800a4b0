import type { AgentTimes } from './agent-options.ts';

/**
 * How long to wait before the next attempt to reach a server. After a stream was lost the first attempts come quickly,
 * then one a second for two minutes, so that a restarted server has its agents back at once; after that, and while
 * connections only reach servers that are known already, upstream's way: factor 1.5 from the sync interval to its cap.
 * A server that takes streams and drops them soon does not begin this anew each time.
 */
export class RetryDelay {
  readonly #times: AgentTimes;
  readonly #random: () => number;
  readonly #now: () => number;
  #lostAtMs = Number.NEGATIVE_INFINITY;
  #attempts = 0;
  #backoffMs: number;
  #backoffBeforeReachMs: number;

  constructor(
    times: AgentTimes,
    random: () => number = Math.random,
    now: () => number = () => performance.now(),
  ) {
    this.#times = times;
    this.#random = random;
    this.#now = now;
    this.#backoffMs = times.syncIntervalMs;
    this.#backoffBeforeReachMs = times.syncIntervalMs;
  }

  /** A stream was lost just now, `livedMs` after it had joined. */
  lost(livedMs: number): void {
    if (livedMs >= this.#times.steadyMs || this.#lostAtMs === Number.NEGATIVE_INFINITY) {
      this.#lostAtMs = this.#now();
      this.#attempts = 0;
    } else {
      this.#backoffMs = this.#backoffBeforeReachMs;
    }
  }

  /** A new server was reached. */
  reached(): void {
    this.#backoffBeforeReachMs = this.#backoffMs;
    this.#backoffMs = this.#times.syncIntervalMs;
  }

  /** The delay after a loss, or an attempt that failed or reached a server that was known, in milliseconds. */
  next(): number {
    const { firstRetriesMs, retryMs, retryForMs, syncIntervalCapMs } = this.#times;
    if (this.#now() - this.#lostAtMs < retryForMs) {
      const first = firstRetriesMs[this.#attempts++];
      return first ?? retryMs * (0.5 + this.#random());
    }
    const delayMs = this.#backoffMs * (1 + 0.1 * this.#random());
    this.#backoffMs = Math.min(this.#backoffMs * 1.5, syncIntervalCapMs);
    return delayMs;
  }
}
