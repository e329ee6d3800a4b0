import type { Clock } from '../../ops/clock.ts';

/** Calls back once for each agent whose deadline passed, on the clock that never goes back. */
export class Deadlines {
  readonly #clock: Clock;
  readonly #onPassed: (agentId: string) => void;
  readonly #atMonoMs = new Map<string, number>();
  #armedMonoMs = Number.POSITIVE_INFINITY;
  #wait = new AbortController();

  constructor(clock: Clock, onPassed: (agentId: string) => void) {
    this.#clock = clock;
    this.#onPassed = onPassed;
  }

  /** Sets, moves or (undefined) removes the deadline of an agent's order. */
  set(agentId: string, atMonoMs: number | undefined): void {
    if (atMonoMs === undefined) {
      this.#atMonoMs.delete(agentId);
      return;
    }
    this.#atMonoMs.set(agentId, atMonoMs);
    if (atMonoMs < this.#armedMonoMs) this.#arm(atMonoMs);
  }

  close(): void {
    this.#atMonoMs.clear();
    this.#wait.abort();
  }

  #arm(atMonoMs: number): void {
    this.#wait.abort();
    const wait = new AbortController();
    this.#wait = wait;
    this.#armedMonoMs = atMonoMs;
    void this.#clock.wait(Math.max(0, atMonoMs - this.#clock.monoMs()), wait.signal).then(() => {
      if (!wait.signal.aborted) this.#look();
    });
  }

  /** A deadline that was moved or removed since leaves its wait behind: then there is nothing to do yet. */
  #look(): void {
    const now = this.#clock.monoMs();
    const passed: string[] = [];
    let next = Number.POSITIVE_INFINITY;
    for (const [agentId, atMonoMs] of this.#atMonoMs) {
      if (atMonoMs <= now) passed.push(agentId);
      else next = Math.min(next, atMonoMs);
    }
    for (const agentId of passed) this.#atMonoMs.delete(agentId);
    this.#armedMonoMs = Number.POSITIVE_INFINITY;
    if (next !== Number.POSITIVE_INFINITY) this.#arm(next);
    for (const agentId of passed) this.#onPassed(agentId);
  }
}
