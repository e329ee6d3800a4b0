import type { ProxyServer } from '../../server/proxy-server.ts';
import type { AgentState } from '../model/agent.ts';
import type { ServerInfo } from '../model/server-info.ts';
import { leftOver, stateOfAgent } from './agent-state.ts';
import type { Caller } from './caller.ts';
import { knownAgents } from './known-agents.ts';
import type { Sampler } from './sampler.ts';

export interface ServerInfoParts {
  readonly server: ProxyServer;
  readonly sampler: Sampler;
  readonly epoch: string;
  /** The first certificate of the server to expire. */
  certificateExpiry(): Date | undefined;
  readonly keepsOrders: boolean;
}

/** The server itself, and who the caller is to it. @param states agents by state, where somebody counted them already */
export function serverInfo(
  { server, sampler, epoch, certificateExpiry, keepsOrders }: ServerInfoParts,
  caller: Caller,
  states: Record<AgentState, number> = countStates(server),
): ServerInfo {
  const { options, counters, backends } = server;
  const dialP99Seconds = counters.recentDials.percentile(0.99);
  const expiry = certificateExpiry();
  let failed = 0;
  for (const count of counters.dialFailures.values()) failed += count;
  return {
    id: options.serverId,
    version: options.version,
    epoch,
    startedAt: new Date(server.startedAtUnixMs),
    serverCount: options.serverCount,
    strategies: options.strategies,
    unservedStrategies: backends.registry.strategies
      .filter((strategy) => strategy.backendCount === 0)
      .map((strategy) => strategy.name),
    stopping: server.stopping,
    totals: {
      ...states,
      tunnels: counters.establishedTunnels,
      pendingDials: counters.pendingDials,
      dialsTotal: counters.dialsStarted,
      failedDialsTotal: failed,
      ...sampler.total,
      bufferedBytes: server.buffers.heldBytes,
    },
    ...(dialP99Seconds === undefined ? {} : { dialP99Seconds }),
    ...(expiry === undefined ? {} : { nextCertificateExpiry: expiry }),
    caller: shownCaller(caller),
    keepsOrders,
  };
}

export function shownCaller({ name, role }: Caller): ServerInfo['caller'] {
  return { name, role: role === 'viewer' ? 'viewer' : 'operator' };
}

function countStates(server: ProxyServer): Record<AgentState, number> {
  const counts: Record<AgentState, number> = { ready: 0, draining: 0, drained: 0, gone: 0 };
  const monoMs = performance.now();
  for (const agentId of knownAgents(server)) {
    const streams = server.backends.registry.streamsOf(agentId);
    counts[stateOfAgent(server, streams, leftOver(streams), monoMs).state]++;
  }
  return counts;
}
