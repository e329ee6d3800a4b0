import type { Backend } from '../../server/backend.ts';
import { MOST_REPLACEMENTS } from '../../server/replacements.ts';
import type { Pool } from '../../server/selection/pool.ts';
import type { StreamRegistry } from '../../server/selection/stream-registry.ts';
import type { SelectableStream } from '../../server/selection/stream-state.ts';
import { Tier } from '../../server/selection/tier.ts';

/**
 * The same over all servers of the agent, as far as it is known: while it drains our agent carries what its other
 * servers say.
 */
export function replacementsOf(registry: StreamRegistry<Backend>, agentId: string): number {
  const here = othersReady(registry, agentId);
  const said = registry.streamsOf(agentId).at(-1)?.status?.replacements ?? -1;
  return said < 0 ? here : Math.min(here, said);
}

/**
 * Whether every server of an agent of ours has others that take over, by this server's own sight and by what the agent
 * carries of the other servers. Not while one of them has not said so.
 */
export function isReplacedEverywhere(registry: StreamRegistry<Backend>, agentId: string): boolean {
  const status = registry.streamsOf(agentId).at(-1)?.status;
  if (status === undefined) return false;
  return status.serverIds.length <= 1 || status.replacements > 0;
}

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
