import type { Pool } from '../../server/selection/pool.ts';
import type { StreamRegistry } from '../../server/selection/stream-registry.ts';
import type { SelectableStream } from '../../server/selection/stream-state.ts';
import { Tier } from '../../server/selection/tier.ts';

/** More are not told apart: in a large fleet every arrival would change what is said of everybody. */
export const MOST_REPLACEMENTS = 10;

/** Of the destinations of an agent, the smallest number of other agents that are ready for one; at most ten. */
export function othersReady(registry: StreamRegistry, agentId: string): number {
  const readyHere = new Map<Pool, number>();
  for (const stream of registry.streamsOf(agentId) as SelectableStream[]) {
    for (const { pool, member } of registry.stateOf(stream)?.members ?? []) {
      readyHere.set(pool, member.tier === Tier.ready ? 1 : 0);
    }
  }
  const others = (pool: Pool): number => pool.ready.size - (readyHere.get(pool) ?? 0);
  let anyDestination = 0;
  for (const { single } of registry.strategies) {
    if (single !== undefined) anyDestination = Math.max(anyDestination, others(single));
  }
  let least = MOST_REPLACEMENTS;
  for (const pool of readyHere.keys()) least = Math.min(least, Math.max(others(pool), anyDestination));
  return least;
}
