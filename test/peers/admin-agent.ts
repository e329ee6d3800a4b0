import type { Agent, AgentStream } from '../../src/proxy/admin/model/agent.ts';
import type { Order } from '../../src/proxy/admin/model/order.ts';

/** Where the clock of scripted admin data stands. */
export const NOW = new Date('2026-01-01T12:00:00Z');

export function minutesAgo(minutes: number): Date {
  return new Date(NOW.getTime() - minutes * 60_000);
}

/** A ready agent of ours with one stream to cp-1, as the admin API tells it. */
export function adminAgent(id: string, more: Partial<Agent> = {}): Agent {
  return {
    id,
    state: 'ready',
    conditions: [],
    kind: 'ts',
    instance: `instance-of-${id}`,
    version: '0.1.0',
    identifiers: [{ kind: 'host', value: `${id}.example` }],
    streams: [adminStream()],
    serverIds: ['cp-1'],
    serverCount: 1,
    tunnels: 0,
    pendingDials: 0,
    tunnelsHere: 0,
    pendingDialsHere: 0,
    safeToStop: false,
    lastFor: [],
    reconnects: 0,
    lastSeen: NOW,
    bufferedBytes: 0,
    pausedTunnels: 0,
    replacements: 2,
    ...more,
  };
}

export function adminStream(more: Partial<AgentStream> = {}): AgentStream {
  return {
    serverId: 'cp-1',
    remoteAddress: '10.0.0.4:40112',
    connectedSince: minutesAgo(180),
    roundTripSeconds: 0.0005,
    state: 'ready',
    instance: 'instance-of-node-a',
    version: '0.1.0',
    tunnels: 0,
    pendingDials: 0,
    ...more,
  };
}

export function adminOrder(agentId: string, more: Partial<Order> = {}): Order {
  return {
    id: 'order7f3',
    agentId,
    actor: 'alice@example',
    actorClaimed: true,
    reason: 'kernel patch',
    since: minutesAgo(12),
    atDeadline: 'keep',
    until: 'undrain',
    relayed: false,
    acknowledged: true,
    overdue: false,
    version: 1,
    ...more,
  };
}
