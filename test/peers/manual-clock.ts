import type { Clock } from '../../src/proxy/ops/clock.ts';
import { until } from './sockets-left.ts';

interface Wait {
  readonly atMs: number;
  readonly done: () => void;
}

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #wall = Date.UTC(2030, 0, 1);
  #mono = 1_000_000;
  readonly #waits = new Set<Wait>();

  wallMs(): number {
    return this.#wall;
  }

  monoMs(): number {
    return this.#mono;
  }

  wait(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) {
        resolve();
        return;
      }
      const done = (): void => {
        this.#waits.delete(wait);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const wait: Wait = { atMs: this.#mono + ms, done };
      this.#waits.add(wait);
      signal.addEventListener('abort', done);
    });
  }

  /** How many wait for a time to come. */
  get waiting(): number {
    return this.#waits.size;
  }

  /** Resolves when that many wait: what a test wants to move on has come to its wait. */
  async waits(count: number): Promise<void> {
    await until(() => this.#waits.size >= count, `${count} waits for the clock`);
  }

  /** Moves both clocks on, and ends the waits that are over. */
  advance(ms: number): void {
    this.#wall += ms;
    this.#mono += ms;
    for (const { atMs, done } of [...this.#waits]) if (atMs <= this.#mono) done();
  }

  /** Sets the machine's clock forward or back, which ends no wait. */
  jump(ms: number): void {
    this.#wall += ms;
  }
}
