import type {
  Agent,
  AgentDetails,
  DrainResult,
  Rates,
  UndrainResult,
} from '../../proxy/admin/model/agent.ts';
import type { AdminEvent } from '../../proxy/admin/model/event.ts';
import type { Selection } from '../../proxy/admin/model/selection.ts';
import type { Tunnel } from '../../proxy/admin/model/tunnel.ts';
import type { Key } from '../terminal/key.ts';
import type { DrainPreview } from './dialog.ts';
import type { Result, ServerState, TunnelSort } from './top-state.ts';

/** Everything that changes the screen. */
export type TopEvent =
  | { readonly type: 'resized'; readonly columns: number; readonly rows: number }
  | { readonly type: 'tick'; readonly nowMs: number }
  /** The keys of one read of the terminal, which belong together. */
  | {
      readonly type: 'read';
      readonly keys: readonly Key[];
      /** They came as a paste comes that nobody marked, or right after one. */
      readonly pasted?: true;
    }
  | {
      readonly type: 'fleet';
      readonly nowMs: number;
      readonly servers: readonly ServerState[];
      readonly everything: ReadonlyMap<string, Agent>;
    }
  | { readonly type: 'rates'; readonly rates: ReadonlyMap<string, Rates> }
  | { readonly type: 'details'; readonly id: string; readonly outcome: Outcome<AgentDetails> }
  | {
      readonly type: 'tunnels';
      readonly agent: string | undefined;
      readonly sort: TunnelSort;
      readonly outcome: Outcome<{ readonly tunnels: readonly Tunnel[]; readonly total: number }>;
    }
  | {
      readonly type: 'events';
      readonly agent: string | undefined;
      readonly outcome: Outcome<readonly AdminEvent[]>;
    }
  | { readonly type: 'selection'; readonly target: string; readonly outcome: Outcome<readonly Selection[]> }
  | { readonly type: 'drain-preview'; readonly request: number; readonly outcome: Outcome<DrainPreview> }
  | {
      readonly type: 'undrain-preview';
      readonly request: number;
      readonly outcome: Outcome<readonly UndrainResult[]>;
    }
  | { readonly type: 'drained'; readonly request: number; readonly outcome: Outcome<Applied<DrainResult>> }
  | {
      readonly type: 'undrained';
      readonly request: number;
      readonly outcome: Outcome<Applied<UndrainResult>>;
    }
  | { readonly type: 'tunnel-closed'; readonly request: number; readonly outcome: Outcome<Tunnel> }
  | { readonly type: 'said'; readonly result: Result }
  | { readonly type: 'granted' };

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

/** What servers did, and those of them that did not. */
export interface Applied<T> {
  readonly results: readonly T[];
  readonly failures: readonly { readonly server: string; readonly reason: string }[];
}
