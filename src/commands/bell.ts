import type { Clock } from '../proxy/ops/clock.ts';

/** Wakes one waiter; a ring without a waiter is kept for the next one. */
export class Bell {
  #rung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Resolves at the next ring, after that time, or at the signal. Never rejects. */
  async wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#rung) {
      const rung = new AbortController();
      this.#wake = () => rung.abort();
      await clock.wait(ms, AbortSignal.any([signal, rung.signal]));
      this.#wake = undefined;
    }
    this.#rung = false;
  }
}
