import type { Tunnel } from './tunnel.ts';

export interface SelectRequest {
  /** host:port, or a host. */
  readonly target: string;
  readonly assumeDrained?: readonly string[];
  readonly assumeGone?: readonly string[];
  /** How many of the last dials and ends of that destination to add, tunnels that run too; at most 100. */
  readonly history?: number;
}

export interface SelectCandidate {
  readonly id: string;
  readonly state: 'ready' | 'draining' | 'suspect' | 'waiting' | 'gone';
  /** Why not; absent for those that the choice is between. */
  readonly excluded?: string;
}

/** A dry run of a dial (SelectResponse in proto/admin.proto). */
export interface Selection {
  readonly server: string;
  readonly target: string;
  readonly choice: 'none' | 'only' | 'random' | 'least';
  /** An example where the choice is random; empty when there is none. */
  readonly agent: string;
  readonly strategy: string;
  readonly fallback: boolean;
  readonly reason: string;
  readonly strategies: readonly {
    readonly name: string;
    readonly key: string;
    readonly matches: number;
    readonly candidates: readonly SelectCandidate[];
  }[];
  readonly looks: readonly { readonly pass: string; readonly strategy: string; readonly found: number }[];
  readonly choices: number;
  /** Newest first, by the end of what ended and the beginning of what runs. */
  readonly history: readonly Tunnel[];
}
