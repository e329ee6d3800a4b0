import type { Agent } from '../../src/proxy/admin/model/agent.ts';
import type { AdminEvent } from '../../src/proxy/admin/model/event.ts';
import type { Order } from '../../src/proxy/admin/model/order.ts';
import type { ServerInfo } from '../../src/proxy/admin/model/server-info.ts';
import type { Tunnel } from '../../src/proxy/admin/model/tunnel.ts';

const SINCE = new Date('2026-01-02T03:04:05.678Z');

/** A ready agent with nothing special; change what the test is about. */
export function sampleAgent(more: Partial<Agent> = {}): Agent {
  const id = more.id ?? 'node-a';
  return {
    id,
    state: 'ready',
    conditions: [],
    kind: 'ts',
    instance: 'i1',
    version: '0.1.0',
    identifiers: [{ kind: 'host', value: id }],
    streams: [],
    serverIds: ['server-1'],
    serverCount: 1,
    tunnels: 0,
    pendingDials: 0,
    tunnelsHere: 0,
    pendingDialsHere: 0,
    safeToStop: false,
    lastFor: [],
    reconnects: 0,
    lastSeen: SINCE,
    bufferedBytes: 0,
    pausedTunnels: 0,
    replacements: 1,
    ...more,
  };
}

export function sampleOrder(more: Partial<Order> = {}): Order {
  return {
    id: 'kq3ma7zd',
    agentId: 'node-a',
    actor: 'ann@desk',
    actorClaimed: true,
    reason: '',
    since: SINCE,
    atDeadline: 'keep',
    until: 'undrain',
    relayed: false,
    acknowledged: true,
    overdue: false,
    version: 1,
    ...more,
  };
}

export function sampleTunnel(more: Partial<Tunnel> = {}): Tunnel {
  return {
    id: 'b',
    dialId: '9223372036854775807',
    agent: 'node-a',
    destination: '10.0.0.7:10250',
    client: 'unix',
    since: SINCE,
    ageSeconds: 12,
    idleSeconds: 3,
    bytesToNode: 100,
    bytesFromNode: 2 ** 40,
    bytesPerSecond: 0,
    bufferedBytes: 0,
    serverId: 'server-1',
    connectId: 1,
    strategy: 'default',
    mode: 'http-connect',
    ...more,
  };
}

export function sampleServer(more: Partial<ServerInfo> = {}): ServerInfo {
  return {
    id: 'server-1',
    version: '0.1.0',
    epoch: 'e1',
    startedAt: SINCE,
    serverCount: 1,
    strategies: ['default'],
    unservedStrategies: [],
    stopping: false,
    totals: {
      ready: 1,
      draining: 0,
      drained: 0,
      gone: 0,
      tunnels: 0,
      pendingDials: 0,
      dialsTotal: 0,
      failedDialsTotal: 0,
      dialsPerSecond: 0,
      bytesToNodePerSecond: 0,
      bytesFromNodePerSecond: 0,
      bufferedBytes: 0,
    },
    caller: { name: '', role: 'operator' },
    keepsOrders: false,
    ...more,
  };
}

export function sampleEvent(more: Partial<AdminEvent> = {}): AdminEvent {
  return {
    number: 1,
    time: SINCE,
    type: 'agent-connected',
    agent: 'node-a',
    message: 'node-a connected from 10.0.0.7',
    serverId: 'server-1',
    epoch: 'e1',
    missed: 0,
    ...more,
  };
}
