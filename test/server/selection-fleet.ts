import { explain } from '../../src/proxy/server/selection/explain.ts';
import { Selector, type SelectorOptions } from '../../src/proxy/server/selection/selector.ts';
import type { StrategyName } from '../../src/proxy/server/selection/strategies.ts';
import { StreamRegistry } from '../../src/proxy/server/selection/stream-registry.ts';
import type { SelectableStream } from '../../src/proxy/server/selection/stream-state.ts';
import { parseIdentifiers } from '../../src/proxy/wire/identifiers.ts';

/** A stream with a name of its own, so that a failed test says which one it was. */
export interface NamedStream extends SelectableStream {
  readonly name: string;
}

/** A registry and a selector on a clock and a die that the test holds, and a record of what they told. */
export class Fleet {
  readonly told: string[] = [];
  readonly registry: StreamRegistry<NamedStream>;
  readonly selector: Selector<NamedStream>;
  nowMs = 0;
  #streams = 0;

  constructor(strategies: readonly StrategyName[], options: SelectorOptions<NamedStream> = {}) {
    this.registry = new StreamRegistry<NamedStream>({
      strategies,
      now: () => this.nowMs,
      events: {
        onPoolOutOfReady: (pool) => this.told.push(`${pool.strategy}/${pool.key} out of ready`),
        onPoolReadyAgain: (pool) => this.told.push(`${pool.strategy}/${pool.key} ready again`),
        onAllOutOfReady: () => this.told.push('all out of ready'),
        onAllReadyAgain: () => this.told.push('all ready again'),
      },
    });
    this.selector = new Selector(this.registry, { random: seededRandom(1), ...options });
  }

  /** Connects a Go agent's stream: it has no instance and never sends STATUS. */
  go(agentId: string, identifiers = ''): NamedStream {
    return this.#connect(agentId, identifiers, undefined);
  }

  /** Connects a stream of our agent, whose first STATUS has not arrived. */
  ours(agentId: string, instance: string, identifiers = ''): NamedStream {
    return this.#connect(agentId, identifiers, instance);
  }

  /** Connects a stream of our agent and takes its first STATUS. */
  announced(agentId: string, instance: string, identifiers = ''): NamedStream {
    const stream = this.ours(agentId, instance, identifiers);
    this.registry.markChoosable(stream);
    return stream;
  }

  drain(...streams: NamedStream[]): void {
    for (const stream of streams) this.registry.markDraining(stream);
  }

  suspect(...streams: NamedStream[]): void {
    for (const stream of streams) this.registry.markSuspect(stream, true);
  }

  /** Dials and returns the name of the stream that was chosen, or why there is none. */
  dial(address = 'nowhere:1', exclude?: readonly NamedStream[]): string {
    const selection = this.selector.select(address, exclude);
    return selection.stream === undefined ? selection.reason : selection.stream.name;
  }

  /** Dials many times and counts what was chosen. */
  count(dials: number, address?: string): Map<string, number> {
    const counts = new Map<string, number>();
    for (let i = 0; i < dials; i++) {
      const name = this.dial(address);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return counts;
  }

  explain(address: string, limit?: number) {
    return explain(this.selector, address, limit);
  }

  #connect(agentId: string, identifiers: string, instance: string | undefined): NamedStream {
    const name = `${agentId}#${++this.#streams}`;
    const announces = instance !== undefined;
    const stream = { agentId, identifiers: parseIdentifiers(identifiers), instance, announces, name };
    this.registry.register(stream);
    return stream;
  }
}

/** The same numbers from 0 to 1 for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
