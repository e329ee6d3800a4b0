import type { PlainHistogram } from '../ops/plain-histogram.ts';

/** Measures how long a frontend's transport makes writes wait. One observation for each write. */
export class WriteClock {
  readonly #seconds: PlainHistogram;
  /** Since when the transport is full; 0 while it is not. */
  #fullSinceMs = 0;

  constructor(seconds: PlainHistogram) {
    this.#seconds = seconds;
  }

  /** A write; `free` as sockets and streams return it: false when the transport is full now. */
  wrote(free: boolean): void {
    if (free) this.#seconds.observe(0);
    else if (this.#fullSinceMs === 0) this.#fullSinceMs = performance.now();
  }

  /** The transport has room again. */
  drained(): void {
    if (this.#fullSinceMs === 0) return;
    this.#seconds.observe((performance.now() - this.#fullSinceMs) / 1000);
    this.#fullSinceMs = 0;
  }
}
