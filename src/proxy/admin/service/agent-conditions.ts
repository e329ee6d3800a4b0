import type { Backend } from '../../server/backend.ts';
import type { DrainOrder } from '../../server/drain/drain-command.ts';
import type { ProxyServer } from '../../server/proxy-server.ts';
import { CONDITIONS, type Condition } from '../model/agent.ts';

/** How long two instances or addresses may be alive together: a restart overlaps for a moment. */
const TOGETHER_MS = 5_000;

export interface ConditionsOfAgent {
  /** Worst first. */
  readonly conditions: readonly Condition[];
  /** When time alone would make others, on the wall clock. */
  readonly changesAtUnixMs: number | undefined;
}

export function conditionsOfAgent(
  server: ProxyServer,
  streams: readonly Backend[],
  order: DrainOrder | undefined,
  pausedTunnels: number,
  unixMs: number,
): ConditionsOfAgent {
  const duplicateAtUnixMs = duplicateFrom(streams);
  const found: Record<Condition, boolean> = {
    overdue: order?.overdue === true,
    late: streams.some((backend) => server.backends.isLate(backend)),
    unresponsive: streams.some((backend) => server.backends.isUnresponsive(backend)),
    slow: pausedTunnels > 0,
    duplicate: duplicateAtUnixMs !== undefined && duplicateAtUnixMs <= unixMs,
    partial: streams.some((backend) => isPartial(backend, server.options.serverCount)),
  };
  return {
    conditions: CONDITIONS.filter((condition) => found[condition]),
    changesAtUnixMs:
      duplicateAtUnixMs !== undefined && duplicateAtUnixMs > unixMs ? duplicateAtUnixMs : undefined,
  };
}

/** Since when two streams that do not belong to one process are alive together for too long. */
function duplicateFrom(streams: readonly Backend[]): number | undefined {
  let from: number | undefined;
  for (const [index, older] of streams.entries()) {
    for (const younger of streams.slice(index + 1)) {
      if (older.instance === younger.instance && hostOf(older.remote) === hostOf(younger.remote)) continue;
      const since = Math.max(older.connectedAtMs, younger.connectedAtMs) + TOGETHER_MS;
      from = Math.min(from ?? since, since);
    }
  }
  return from;
}

function hostOf(remote: string): string {
  return remote.slice(0, Math.max(0, remote.lastIndexOf(':')));
}

/** Our agent has not reached every server, or one of them cannot be told that its draining ended. */
function isPartial({ status }: Backend, serverCount: number): boolean {
  if (status === undefined) return false;
  return status.serverIds.length < serverCount || status.stillDraining.length > 0;
}
