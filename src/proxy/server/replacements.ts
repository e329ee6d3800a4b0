import type { Backend } from './backend.ts';
import type { StreamRegistry } from './selection/stream-registry.ts';

/** More are not told apart: in a large fleet every arrival would be told to every draining agent. */
export const MOST_REPLACEMENTS = 10;

/**
 * How many ready agents could serve what this backend serves: the smallest number over its destinations, each of
 * which may also be served under a strategy that takes any destination. An agent that no strategy can choose is
 * replaced by nobody being missed. At most ten.
 */
export function replacementsOf(registry: StreamRegistry<Backend>, backend: Backend): number {
  let anyDestination = 0;
  for (const strategy of registry.strategies) {
    anyDestination = Math.max(anyDestination, strategy.single?.ready.size ?? 0);
  }
  let least = Number.POSITIVE_INFINITY;
  for (const member of registry.stateOf(backend)?.members ?? []) {
    least = Math.min(least, Math.max(member.pool.ready.size, anyDestination));
  }
  if (least === Number.POSITIVE_INFINITY) least = Math.max(1, anyDestination);
  return Math.min(least, MOST_REPLACEMENTS);
}
