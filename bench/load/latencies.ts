import type { LatencySummary } from '../messages.ts';

// Buckets grow by 1 %: 2,400 of them reach from 1 us to beyond six hours.
const GROWTH = Math.log(1.01);
const BUCKETS = 2400;

/** Counts durations in buckets of 1 %, so that a million of them cost no memory and percentiles no sorting. */
export class Latencies {
  readonly #buckets = new Uint32Array(BUCKETS);
  #count = 0;
  #maxUs = 0;

  /** Adds one duration in microseconds. */
  add(us: number): void {
    const bucket = us <= 1 ? 0 : Math.min(BUCKETS - 1, Math.floor(Math.log(us) / GROWTH));
    this.#buckets[bucket] = (this.#buckets[bucket] as number) + 1;
    this.#count++;
    if (us > this.#maxUs) this.#maxUs = us;
  }

  clear(): void {
    this.#buckets.fill(0);
    this.#count = 0;
    this.#maxUs = 0;
  }

  /** The duration that the given share (0 to 1) of all does not exceed, in microseconds; 0 when there are none. */
  percentile(share: number): number {
    let left = Math.ceil(this.#count * share);
    if (left === 0) return 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      left -= this.#buckets[bucket] as number;
      if (left <= 0) return Math.exp((bucket + 1) * GROWTH);
    }
    return Number.POSITIVE_INFINITY;
  }

  summary(): LatencySummary {
    return { p50Us: this.percentile(0.5), p99Us: this.percentile(0.99), maxUs: this.#maxUs };
  }
}
