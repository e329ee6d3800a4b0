import type { Agent } from './agent.ts';

export interface Totals {
  readonly ready: number;
  readonly draining: number;
  readonly drained: number;
  readonly gone: number;
  readonly tunnels: number;
  readonly pendingDials: number;
  readonly dialsTotal: number;
  readonly failedDialsTotal: number;
  readonly dialsPerSecond: number;
  readonly bytesToNodePerSecond: number;
  readonly bytesFromNodePerSecond: number;
  readonly bufferedBytes: number;
}

/** A server, and who the caller is to it (Server in proto/admin.proto). */
export interface ServerInfo {
  readonly id: string;
  readonly version: string;
  /** Another one after each start of the process. */
  readonly epoch: string;
  readonly startedAt: Date;
  readonly serverCount: number;
  readonly strategies: readonly string[];
  readonly unservedStrategies: readonly string[];
  readonly stopping: boolean;
  readonly totals: Totals;
  readonly dialP99Seconds?: number;
  readonly nextCertificateExpiry?: Date;
  readonly caller: { readonly name: string; readonly role: 'viewer' | 'operator' };
  /** Orders survive a restart. */
  readonly keepsOrders: boolean;
}

/** One message of a watch. */
export interface AgentsChange {
  readonly snapshot: boolean;
  /** The last message of a snapshot, which may come in several. */
  readonly snapshotComplete: boolean;
  readonly epoch: string;
  readonly revision: number;
  readonly changed: readonly Agent[];
  readonly removed: readonly string[];
  readonly server?: ServerInfo;
}
