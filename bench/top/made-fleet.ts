import type { Agent } from '../../src/proxy/admin/model/agent.ts';
import type { ServerInfo } from '../../src/proxy/admin/model/server-info.ts';

/** The part of the agents that changes at each interval: tunnels come and go, round trips differ. */
const CHANGING = 0.2;

export interface MadeFleet {
  readonly agents: Agent[];
  /** Changes a part of them and says which. */
  next(): Agent[];
}

/** Agents such as a large cluster has, the same ones each time. */
export function makeFleet(count: number): MadeFleet {
  const agents = Array.from({ length: count }, (_, i) => madeAgent(i, 0));
  let turn = 0;
  return {
    agents,
    next: () => {
      turn++;
      const each = Math.max(1, Math.floor(count * CHANGING));
      const start = (turn * each) % count;
      const changed: Agent[] = [];
      for (let i = start; i < Math.min(count, start + each); i++) {
        const agent = madeAgent(i, turn);
        agents[i] = agent;
        changed.push(agent);
      }
      return changed;
    },
  };
}

function madeAgent(i: number, turn: number): Agent {
  const tunnels = (i * 7 + turn * 3) % 40;
  const draining = i % 50 === 0;
  return {
    id: `ip-10-${i >> 8}-${i & 255}-${(i * 7) % 251}.example.internal`,
    state: draining ? 'draining' : 'ready',
    conditions: i % 200 === 7 ? ['slow'] : [],
    kind: 'ts',
    instance: `instance-${i}`,
    version: '0.1.0',
    identifiers: [{ kind: 'ipv4', value: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` }],
    streams: ['cp-1', 'cp-2', 'cp-3'].map((serverId) => ({
      serverId,
      remoteAddress: `10.9.${i & 255}.4:40112`,
      connectedSince: new Date(0),
      roundTripSeconds: 0.001,
      state: 'ready',
      instance: `instance-${i}`,
      version: '0.1.0',
      tunnels,
      pendingDials: 0,
    })),
    serverIds: ['cp-1', 'cp-2', 'cp-3'],
    serverCount: 3,
    tunnels,
    pendingDials: 0,
    tunnelsHere: tunnels,
    pendingDialsHere: 0,
    oldestTunnelSince: new Date(1_700_000_000_000 + i),
    safeToStop: false,
    lastFor: [],
    reconnects: 0,
    lastSeen: new Date(1_700_000_000_000 + turn * 1_000),
    rates: {
      dialsPerSecond: tunnels / 10,
      bytesToNodePerSecond: tunnels * 1_000,
      bytesFromNodePerSecond: ((turn + i) % 9) * 10_000,
    },
    bufferedBytes: 0,
    pausedTunnels: 0,
    roundTripSeconds: 0.001 + (turn % 5) / 1_000,
    replacements: 40,
  };
}

export function madeServerInfo({ agents }: MadeFleet): ServerInfo {
  return {
    id: 'cp-1',
    version: '0.1.0',
    epoch: 'e',
    startedAt: new Date(0),
    serverCount: 3,
    strategies: ['destHost', 'default'],
    unservedStrategies: [],
    stopping: false,
    totals: {
      ready: agents.length,
      draining: 0,
      drained: 0,
      gone: 0,
      tunnels: 318,
      pendingDials: 0,
      dialsTotal: 1_000,
      failedDialsTotal: 0,
      dialsPerSecond: 12,
      bytesToNodePerSecond: 3_000_000,
      bytesFromNodePerSecond: 41_000_000,
      bufferedBytes: 0,
    },
    caller: { name: 'bench', role: 'operator' },
    keepsOrders: false,
  };
}
