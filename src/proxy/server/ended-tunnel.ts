import type { CloseReason } from '../wire/close-reason.ts';
import type { StrategyName } from './selection/strategy-name.ts';

/** A tunnel that ended, or a dial that failed: what is remembered of it, without what it was made of. */
export interface EndedTunnel {
  readonly number: number;
  readonly dialId: bigint;
  /** Empty when no agent was chosen. */
  readonly agentId: string;
  readonly address: string;
  readonly client: string;
  readonly mode: 'grpc' | 'http-connect';
  readonly strategy: StrategyName | '';
  /** 0 for a dial that failed. */
  readonly connectId: number;
  /** Both on performance.now()'s clock. */
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly bytesToNode: number;
  readonly bytesFromNode: number;
  readonly reason: CloseReason | 'dial-failed';
  /** What the client of a failed dial was told; empty otherwise. */
  readonly error: string;
}

/** How many are remembered. */
export const MOST_ENDED_TUNNELS = 10_000;
