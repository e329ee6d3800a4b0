import type { Backend } from '../../server/backend.ts';
import type { ProxyServer } from '../../server/proxy-server.ts';
import type { AgentState } from '../model/agent.ts';

/** How long ago an agent must have been chosen last to be drained. */
export const QUIET_MS = 1_000;

export interface StateOfAgent {
  readonly state: AgentState;
  /** When time alone would make another state of it, on performance.now()'s clock. */
  readonly changesAtMs: number | undefined;
}

/** What an agent has left to do: our agent says so for all its servers, for a Go agent this server counts. */
export interface LeftOver {
  readonly tunnels: number;
  readonly pendingDials: number;
  readonly tunnelsHere: number;
  readonly pendingDialsHere: number;
}

export function leftOver(streams: readonly Backend[]): LeftOver {
  let tunnelsHere = 0;
  let pendingDialsHere = 0;
  // Totals of one process, said on each of its streams: several processes of an ID add up.
  const said = new Map<string | undefined, { tunnels: number; pendingDials: number }>();
  for (const { instance, status, tunnels, dials } of streams) {
    tunnelsHere += tunnels.size;
    pendingDialsHere += dials.size;
    if (status === undefined) continue;
    const before = said.get(instance);
    said.set(instance, {
      tunnels: Math.max(before?.tunnels ?? 0, status.tunnels),
      pendingDials: Math.max(before?.pendingDials ?? 0, status.pendingDials),
    });
  }
  const total = (key: 'tunnels' | 'pendingDials'): number =>
    [...said.values()].reduce((sum, one) => sum + one[key], 0);
  return {
    tunnelsHere,
    pendingDialsHere,
    // What began here a moment ago is not in its word yet.
    tunnels: Math.max(total('tunnels'), tunnelsHere),
    pendingDials: Math.max(total('pendingDials'), pendingDialsHere),
  };
}

/**
 * The state word of an agent ID. Draining while every stream is. Drained is a statement about now, of all servers of an
 * agent of ours.
 */
export function stateOfAgent(
  server: ProxyServer,
  streams: readonly Backend[],
  left: LeftOver,
  monoMs: number,
): StateOfAgent {
  if (streams.length === 0) return { state: 'gone', changesAtMs: undefined };
  const { registry } = server.backends;
  if (!streams.every((backend) => registry.stateOf(backend)?.draining === true)) {
    return { state: 'ready', changesAtMs: undefined };
  }
  if (left.tunnels + left.pendingDials > 0) return { state: 'draining', changesAtMs: undefined };
  const quietSinceMs = quietSince(server, streams);
  if (quietSinceMs === undefined) return { state: 'draining', changesAtMs: undefined };
  const quietAtMs = quietSinceMs + QUIET_MS;
  if (quietAtMs > monoMs) return { state: 'draining', changesAtMs: quietAtMs };
  return { state: 'drained', changesAtMs: undefined };
}

/**
 * Since when no server can have chosen the agent, but for want of any other. An agent that takes orders tells all its
 * servers when it begins to drain: before that others may still choose it, and then a dial may be on its way.
 * @returns undefined while it has not said that it drains
 */
function quietSince({ backends }: ProxyServer, streams: readonly Backend[]): number | undefined {
  let sinceMs = Math.max(...streams.map((backend) => backend.lastChosenMs));
  for (const { instance, features, status } of streams) {
    if (!features.has('order')) continue;
    const ofProcess = streams.filter((other) => other.instance === instance);
    const saidMs = Math.min(...ofProcess.map((other) => backends.drainsSinceMs(other) ?? Infinity));
    if (saidMs === Infinity) return undefined;
    if ((status?.serverIds.length ?? 0) > 1) sinceMs = Math.max(sinceMs, saidMs);
  }
  return sinceMs;
}
