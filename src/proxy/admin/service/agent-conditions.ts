import type { Backend } from '../../server/backend.ts';
import type { DrainOrder } from '../../server/drain/drain-command.ts';
import type { ProxyServer } from '../../server/proxy-server.ts';
import { CONDITIONS, type Condition } from '../model/agent.ts';

/** How long two instances or addresses may be alive together: a restart overlaps for a moment. */
const TOGETHER_MS = 5_000;

export interface ConditionsOfAgent {
  /** Worst first. */
  readonly conditions: readonly Condition[];
  /** When time alone would make others, on performance.now()'s clock. */
  readonly changesAtMs: number | undefined;
}

export function conditionsOfAgent(
  server: ProxyServer,
  streams: readonly Backend[],
  order: DrainOrder | undefined,
  pausedTunnels: number,
  monoMs: number,
): ConditionsOfAgent {
  const duplicateAtMs = duplicateFrom(server, streams);
  const found: Record<Condition, boolean> = {
    overdue: order?.overdue === true,
    late: streams.some((backend) => server.backends.isLate(backend)),
    unresponsive: streams.some((backend) => server.backends.isUnresponsive(backend)),
    slow: pausedTunnels > 0,
    duplicate: duplicateAtMs !== undefined && duplicateAtMs <= monoMs,
    partial: streams.some((backend) => isPartial(backend, server.options.serverCount)),
  };
  return {
    conditions: CONDITIONS.filter((condition) => found[condition]),
    changesAtMs: duplicateAtMs !== undefined && duplicateAtMs > monoMs ? duplicateAtMs : undefined,
  };
}

/** When two streams that do not belong to one process will have been alive together for too long. */
function duplicateFrom({ backends }: ProxyServer, streams: readonly Backend[]): number | undefined {
  // In the order in which they came: the first that is not of the oldest's process is the first of a pair.
  const [oldest, ...others] = streams;
  const stranger = others.find(
    (other) => other.instance !== oldest?.instance || hostOf(other.remote) !== hostOf(oldest?.remote ?? ''),
  );
  const sinceMs = stranger === undefined ? undefined : backends.registry.stateOf(stranger)?.registeredAtMs;
  return sinceMs === undefined ? undefined : sinceMs + TOGETHER_MS;
}

function hostOf(remote: string): string {
  return remote.slice(0, Math.max(0, remote.lastIndexOf(':')));
}

/** Our agent has not reached every server, or one of them cannot be told that its draining ended. */
function isPartial({ status }: Backend, serverCount: number): boolean {
  if (status === undefined) return false;
  return status.serverIds.length < serverCount || status.stillDraining.length > 0;
}
