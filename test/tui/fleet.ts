import type { Agent } from '../../src/proxy/admin/model/agent.ts';
import type { ServerInfo } from '../../src/proxy/admin/model/server-info.ts';
import type { Tunnel } from '../../src/proxy/admin/model/tunnel.ts';
import { UNICODE } from '../../src/tui/badge.ts';
import type { TopEvent } from '../../src/tui/state/event.ts';
import { reduce } from '../../src/tui/state/reduce.ts';
import { startState, type TopState } from '../../src/tui/state/top-state.ts';
import type { Key, KeyName } from '../../src/tui/terminal/key.ts';
import { adminAgent, adminOrder, minutesAgo, NOW } from '../peers/admin-agent.ts';

/** A fleet with something of everything. */
export function mixedFleet(): Agent[] {
  const on = { serverIds: ['cp-1', 'cp-2', 'cp-3'], serverCount: 3, roundTripSeconds: 0.0005 };
  const serves = (value: string): Pick<Agent, 'identifiers'> => ({ identifiers: [{ kind: 'ipv4', value }] });
  return [
    adminAgent('node-a-7f9c', {
      ...on,
      tunnels: 14,
      oldestTunnelSince: minutesAgo(12),
      ...serves('10.0.1.17'),
    }),
    adminAgent('node-b-2231', {
      ...on,
      state: 'draining',
      source: 'order',
      order: adminOrder('node-b-2231'),
      tunnels: 3,
      oldestTunnelSince: minutesAgo(41),
      ...serves('10.0.1.18'),
    }),
    adminAgent('node-c-9a10', { ...on, state: 'drained', source: 'order', order: adminOrder('node-c-9a10') }),
    adminAgent('node-d-01ff', {
      ...on,
      state: 'draining',
      conditions: ['overdue'],
      source: 'order',
      order: adminOrder('node-d-01ff', { overdue: true }),
      tunnels: 1,
      oldestTunnelSince: minutesAgo(545),
      ...serves('10.0.2.4'),
    }),
    adminAgent('node-e-77aa', {
      ...on,
      kind: 'go',
      conditions: ['slow'],
      pausedTunnels: 2,
      tunnels: 61,
      identifiers: [{ kind: 'default-route', value: 'true' }],
    }),
    adminAgent('node-f-3c3c', {
      ...on,
      serverIds: ['cp-1'],
      conditions: ['late'],
      tunnels: 2,
      roundTripSeconds: 7,
      oldestTunnelSince: minutesAgo(245),
      ...serves('10.0.3.9'),
    }),
  ];
}

export interface ScreenOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly readOnly?: boolean;
  readonly role?: 'viewer' | 'operator';
  readonly glyphs?: TopState['glyphs'];
}

/** A screen on which those agents were just seen. */
export function screenOf(agents: readonly Agent[] = mixedFleet(), options: ScreenOptions = {}): TopState {
  const { columns = 120, rows = 40, readOnly = false, role = 'operator', glyphs = UNICODE } = options;
  const start = startState({
    addresses: ['unix:///a'],
    columns,
    rows,
    nowMs: NOW.getTime(),
    glyphs,
    readOnly,
  });
  return reduce(start, fleetEvent(agents, role));
}

export function fleetEvent(
  agents: readonly Agent[],
  role: 'viewer' | 'operator' = 'operator',
  nowMs = NOW.getTime(),
): TopEvent & { type: 'fleet' } {
  const byId = new Map(agents.map((agent) => [agent.id, agent]));
  const info = serverInfo({ startedAt: minutesAgo(4_564), caller: { name: 'alice', role } });
  const server = { address: 'unix:///a', link: { kind: 'live' as const }, info, agents: byId };
  return { type: 'fleet', nowMs, servers: [server], everything: byId };
}

/** Keys as typed one after the other: a letter, or the name of a key in angle brackets. */
export function keysOf(text: string): Key[] {
  return Array.from(text.matchAll(/<([a-z-]+)>|(.)/gsu), ([, name, letter]) =>
    name === undefined ? { kind: 'text', text: letter ?? '' } : { kind: 'named', name: name as KeyName },
  );
}

/** The screen after keys that came one read each. */
export function typed(state: TopState, text: string): TopState {
  return keysOf(text).reduce((now, key) => reduce(now, { type: 'read', keys: [key] }), state);
}

export function tunnel(id: string, more: Partial<Tunnel> = {}): Tunnel {
  return {
    id,
    dialId: '77',
    agent: 'node-a-7f9c',
    destination: '10.0.1.17:10250',
    client: '10.9.0.1:40000',
    since: minutesAgo(12),
    ageSeconds: 720,
    idleSeconds: 3,
    bytesToNode: 1_000,
    bytesFromNode: 2_000_000,
    bytesPerSecond: 12,
    bufferedBytes: 0,
    serverId: 'cp-1',
    connectId: 1,
    strategy: 'destHost',
    mode: 'http-connect',
    ...more,
  };
}

function serverInfo(change: Partial<ServerInfo> = {}): ServerInfo {
  return {
    id: 'cp-1',
    version: '0.1.0',
    epoch: 'e1',
    startedAt: new Date(0),
    serverCount: 1,
    strategies: ['destHost', 'default'],
    unservedStrategies: [],
    stopping: false,
    totals: {
      ready: 0,
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
    ...change,
  };
}
