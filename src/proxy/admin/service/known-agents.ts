import type { ProxyServer } from '../../server/proxy-server.ts';

/** Every agent ID that the server knows: connected, under an order, or gone for less than an hour. Unsorted. */
export function knownAgents(server: ProxyServer): Set<string> {
  const { drain, backends } = server;
  drain.sightings.expire();
  const ids = new Set<string>();
  for (const { agentId } of backends.all()) ids.add(agentId);
  for (const { agentId } of drain.orders()) ids.add(agentId);
  for (const { agentId } of drain.sightings.gone()) ids.add(agentId);
  return ids;
}

/** By the code units of their IDs: the same order on every machine. */
export function sortedIds(ids: Iterable<string>): string[] {
  return [...ids].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}
