import type { Pool } from '../selection/pool.ts';
import type { StrategyName } from '../selection/strategy-name.ts';
import type { StreamRegistry } from '../selection/stream-registry.ts';
import type { SelectableStream } from '../selection/stream-state.ts';
import { Tier } from '../selection/tier.ts';

/** The strategy that a dial would find a ready agent under, and how many there are. */
export interface Takeover {
  readonly strategy: StrategyName;
  readonly ready: number;
}

/**
 * Who would be ready if some agents were draining: the destinations of agents, and for each the strategy that serves
 * it then. A destination is a host that agents name (destHost), or any.
 */
export class ReadyWithout {
  readonly #registry: StreamRegistry;
  /** How many of the agents left out are ready in that pool. */
  readonly #missing = new Map<Pool, number>();
  readonly #leftOut = new Set<string>();

  constructor(registry: StreamRegistry, agentIds: Iterable<string> = []) {
    this.#registry = registry;
    for (const agentId of agentIds) this.leaveOut(agentId);
  }

  /** As if that agent were draining. */
  leaveOut(agentId: string): void {
    if (this.#leftOut.has(agentId)) return;
    this.#leftOut.add(agentId);
    for (const [pool, ready] of membershipsOf(this.#registry, agentId)) {
      if (ready) this.#missing.set(pool, (this.#missing.get(pool) ?? 0) + 1);
    }
  }

  readyIn(pool: Pool): number {
    return pool.ready.size - (this.#missing.get(pool) ?? 0);
  }

  /** Under which strategy a dial to that pool's destination finds a ready agent, by the strategies in their order. */
  takeover(destination: Pool): Takeover | undefined {
    for (const strategy of this.#registry.strategies) {
      const pool = strategy.single ?? (strategy.name === destination.strategy ? destination : undefined);
      const ready = pool === undefined ? 0 : this.readyIn(pool);
      if (ready > 0) return { strategy: strategy.name, ready };
    }
    return undefined;
  }
}

/**
 * The destinations of an agent, each once, in the order of the strategies: default and defaultRoute are the same
 * destination.
 */
export function destinationsOf(registry: StreamRegistry, agentId: string): Pool[] {
  const found = new Map<string, Pool>();
  for (const [pool] of membershipsOf(registry, agentId)) {
    if (!found.has(pool.key)) found.set(pool.key, pool);
  }
  return [...found.values()];
}

/** A destination in words. */
export function destinationText(destination: Pool): string {
  return destination.key === '' ? 'any destination' : `host ${destination.key}`;
}

/** The pools of an agent ID, and whether it is ready there. */
function membershipsOf(registry: StreamRegistry, agentId: string): Map<Pool, boolean> {
  const pools = new Map<Pool, boolean>();
  for (const stream of registry.streamsOf(agentId) as SelectableStream[]) {
    for (const { pool, member } of registry.stateOf(stream)?.members ?? []) {
      pools.set(pool, member.tier === Tier.ready);
    }
  }
  return pools;
}
