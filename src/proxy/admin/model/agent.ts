import type { AdminEvent } from './event.ts';
import type { Order } from './order.ts';
import type { Tunnel } from './tunnel.ts';

export type AgentState = 'ready' | 'draining' | 'drained' | 'gone';
/** Worst first. */
export const CONDITIONS = ['overdue', 'late', 'unresponsive', 'slow', 'duplicate', 'partial'] as const;
export type Condition = (typeof CONDITIONS)[number];
/** With these, what an agent says, or is counted to have, may be less than it has: it is never safe to stop. */
export const IN_DOUBT: readonly Condition[] = ['late', 'unresponsive', 'duplicate', 'partial'];

export interface Identifier {
  readonly kind: 'host' | 'ipv4' | 'ipv6' | 'cidr' | 'default-route';
  readonly value: string;
}

/** One live stream of an agent to one server. */
export interface AgentStream {
  readonly serverId: string;
  readonly remoteAddress: string;
  readonly connectedSince: Date;
  readonly roundTripSeconds?: number;
  readonly state: 'ready' | 'draining' | 'suspect' | 'waiting';
  readonly instance: string;
  readonly version: string;
  readonly tunnels: number;
  readonly pendingDials: number;
}

export interface Rates {
  readonly dialsPerSecond: number;
  readonly bytesToNodePerSecond: number;
  readonly bytesFromNodePerSecond: number;
}

/** One agent ID, as one server sees it, or several servers together (Agent in proto/admin.proto). */
export interface Agent {
  readonly id: string;
  readonly state: AgentState;
  readonly conditions: readonly Condition[];
  /** Why it is draining; leaving wins. */
  readonly source?: 'order' | 'leaving';
  readonly order?: Order;
  readonly leavingSince?: Date;
  readonly kind: 'ts' | 'go';
  readonly instance?: string;
  readonly version?: string;
  readonly identifiers: readonly Identifier[];
  readonly streams: readonly AgentStream[];
  /** Servers that it has a stream to. */
  readonly serverIds: readonly string[];
  /** Of how many; 0 when not said. */
  readonly serverCount: number;
  /** Over all servers as our agent says; of a Go agent at the servers that were asked. */
  readonly tunnels: number;
  readonly pendingDials: number;
  readonly tunnelsHere: number;
  readonly pendingDialsHere: number;
  readonly oldestTunnelSince?: Date;
  /** Drained everywhere and nobody's last way out. */
  readonly safeToStop: boolean;
  /** Destinations that no other ready agent serves, in words; at most ten. */
  readonly lastFor: readonly string[];
  /** In the last ten minutes. */
  readonly reconnects: number;
  readonly lastSeen?: Date;
  /** Of those that were asked for. */
  readonly rates?: Rates;
  readonly bufferedBytes: number;
  readonly pausedTunnels: number;
  readonly roundTripSeconds?: number;
  readonly replacements: number;
}

export interface AgentDetails {
  readonly agent: Agent;
  /** Oldest first, at most 100. */
  readonly tunnels: readonly Tunnel[];
  /** The last ten, newest first. */
  readonly ended: readonly Tunnel[];
  readonly events: readonly AdminEvent[];
}

export interface DrainResult {
  readonly agentId: string;
  readonly change: 'placed' | 'updated' | 'unchanged';
  readonly order: Order;
  readonly previous?: Order;
  readonly agent: Agent;
  /** Who takes over, one line per destination. */
  readonly takeover: readonly string[];
  readonly notes: readonly string[];
}

export interface UndrainResult {
  readonly agentId: string;
  readonly change: 'ended' | 'unchanged';
  readonly order?: Order;
  readonly agent: Agent;
  readonly notes: readonly string[];
}
