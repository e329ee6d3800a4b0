import type { Clock } from '../../ops/clock.ts';

interface Gone {
  readonly monoMs: number;
  readonly unixMs: number;
}

/** Since when agents with orders have no stream here, so that orders of agents that never come back end. */
export class GoneAgents {
  readonly #clock: Clock;
  readonly #since = new Map<string, Gone>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** For the state directory; undefined while it is connected. */
  sinceUnixMs(agentId: string): number | undefined {
    return this.#since.get(agentId)?.unixMs;
  }

  /** @param unixMs since when; now where left out */
  gone(agentId: string, unixMs = this.#clock.wallMs()): void {
    const forMs = Math.max(0, this.#clock.wallMs() - unixMs);
    this.#since.set(agentId, { unixMs, monoMs: this.#clock.monoMs() - forMs });
  }

  /** It is connected, or has no order any more. @returns whether it was gone */
  back(agentId: string): boolean {
    return this.#since.delete(agentId);
  }

  /** Those that are gone for that long. */
  longerThan(ms: number): string[] {
    const before = this.#clock.monoMs() - ms;
    return [...this.#since].filter(([, { monoMs }]) => monoMs <= before).map(([agentId]) => agentId);
  }
}
