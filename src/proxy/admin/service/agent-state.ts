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
  let tunnels = 0;
  let pendingDials = 0;
  for (const backend of streams) {
    tunnelsHere += backend.tunnels.size;
    pendingDialsHere += backend.dials.size;
    // Totals of one process, said on each of its streams.
    tunnels = Math.max(tunnels, backend.status?.tunnels ?? 0);
    pendingDials = Math.max(pendingDials, backend.status?.pendingDials ?? 0);
  }
  return {
    tunnelsHere,
    pendingDialsHere,
    // What began here a moment ago is not in its word yet.
    tunnels: Math.max(tunnels, tunnelsHere),
    pendingDials: Math.max(pendingDials, pendingDialsHere),
  };
}

/** The state word of an agent ID. Draining while every stream is; drained is a statement about now. */
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
  const lastChosenMs = Math.max(...streams.map((backend) => backend.lastChosenMs));
  const quietAtMs = lastChosenMs + QUIET_MS;
  if (quietAtMs > monoMs) return { state: 'draining', changesAtMs: quietAtMs };
  return { state: 'drained', changesAtMs: undefined };
}
