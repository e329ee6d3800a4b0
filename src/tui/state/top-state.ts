import type { Agent, AgentDetails, Rates } from '../../proxy/admin/model/agent.ts';
import type { AdminEvent } from '../../proxy/admin/model/event.ts';
import type { Selection } from '../../proxy/admin/model/selection.ts';
import type { ServerInfo } from '../../proxy/admin/model/server-info.ts';
import type { Tunnel } from '../../proxy/admin/model/tunnel.ts';
import type { Glyphs } from '../badge.ts';
import type { Dialog } from './dialog.ts';
import type { AgentSort, SortKeys } from './sort-agents.ts';
import type { TextField } from './text-field.ts';

/** Everything that the screen shows; changed by `reduce` alone. */
export interface TopState {
  readonly columns: number;
  readonly rows: number;
  readonly nowMs: number;
  readonly glyphs: Glyphs;
  /** Started with --read-only. */
  readonly readOnly: boolean;
  /** Opened by the demo, whose lines are behind it. */
  readonly inDemo: boolean;
  readonly servers: readonly ServerState[];
  /** An index of `servers`, or all of them together. */
  readonly scope: number | 'all';
  /** All servers' agents, merged. */
  readonly everything: ReadonlyMap<string, Agent>;
  /** The agents in that scope, by ID. */
  readonly agents: ReadonlyMap<string, Agent>;
  readonly rates: ReadonlyMap<string, RateHistory>;
  readonly table: AgentTable;
  /** The bottom is the agents' view; esc leaves the top one. */
  readonly views: readonly View[];
  readonly dialog: Dialog | undefined;
  /** What an action brought; stays until the next key. */
  readonly result: Result | undefined;
  /** Set once; whoever runs the screen then leaves. */
  readonly wants: 'quit' | 'lines' | 'suspend' | 'redraw' | undefined;
  /** Numbers the requests of dialogs, so that an answer finds its own. */
  readonly requests: number;
}

export interface ServerState {
  /** As the user gave it. */
  readonly address: string;
  readonly link: LinkState;
  /** The last that was heard of it. */
  readonly info: ServerInfo | undefined;
  readonly agents: ReadonlyMap<string, Agent>;
}

export type LinkState =
  | { readonly kind: 'connecting'; readonly reason?: string; readonly retryAtMs?: number }
  | { readonly kind: 'live' /** When it was last heard of. */; readonly heardMs?: number }
  | {
      readonly kind: 'lost';
      readonly sinceMs: number;
      readonly reason: string;
      readonly retryAtMs: number | undefined;
    };

export interface RateHistory {
  readonly now: Rates;
  /** Bytes per second from the node, oldest first. */
  readonly fromNode: readonly number[];
}

export interface AgentTable {
  readonly sort: AgentSort;
  readonly drainingOnly: boolean;
  readonly filter: string;
  /** While the filter is being typed. */
  readonly typing: TextField | undefined;
  readonly selected: string | undefined;
  readonly marked: ReadonlySet<string>;
  /** IDs as shown, all of them. */
  readonly order: readonly string[];
  readonly keys: SortKeys;
  /** The first visible row. */
  readonly top: number;
  /** Cells of the longest ID, a Go agent's mark counted. */
  readonly idWidth: number;
}

export type View =
  | { readonly kind: 'agents' }
  | {
      readonly kind: 'details';
      readonly id: string;
      readonly top: number;
      readonly data: Loaded<AgentDetails>;
    }
  | {
      readonly kind: 'tunnels';
      readonly agent: string | undefined;
      readonly sort: TunnelSort;
      readonly selected: string | undefined;
      readonly top: number;
      readonly data: Loaded<{ readonly tunnels: readonly Tunnel[]; readonly total: number }>;
    }
  | {
      readonly kind: 'events';
      readonly agent: string | undefined;
      /** Lines scrolled up from the newest; 0 follows. */
      readonly back: number;
      readonly events: readonly AdminEvent[];
      readonly failure: string | undefined;
    }
  | {
      readonly kind: 'selection';
      readonly target: TextField;
      readonly top: number;
      readonly data: Loaded<readonly Selection[]>;
    }
  | { readonly kind: 'help'; readonly top: number };

export const TUNNEL_SORTS = ['age', 'buffered', 'rate'] as const;
export type TunnelSort = (typeof TUNNEL_SORTS)[number];

/** What a view asked a server for. The last value stays while it cannot be had again. */
export interface Loaded<T> {
  readonly value: T | undefined;
  readonly failure: string | undefined;
}

export const NOTHING_LOADED: Loaded<never> = { value: undefined, failure: undefined };

export interface Result {
  readonly tone: 'good' | 'bad';
  readonly text: string;
}

/** The view on top. */
export function viewOf({ views }: TopState): View {
  return views.at(-1) ?? { kind: 'agents' };
}

/** The servers in scope. */
export function scoped({ servers, scope }: TopState): readonly ServerState[] {
  if (scope === 'all') return servers;
  const one = servers[scope];
  return one === undefined ? [] : [one];
}

/** Whether the caller may change anything: no viewer, not --read-only. If not, the keys for it do not exist. */
export function mayAct(state: TopState): boolean {
  if (state.readOnly) return false;
  const known = scoped(state).filter(({ info }) => info !== undefined);
  return known.length > 0 && known.every(({ info }) => info?.caller.role === 'operator');
}

/** Whether no server in scope answers: what is shown is its last picture. */
export function isStale(state: TopState): boolean {
  return scoped(state).every(({ link }) => link.kind !== 'live');
}

export interface StartOptions {
  readonly addresses: readonly string[];
  readonly columns: number;
  readonly rows: number;
  readonly nowMs: number;
  readonly glyphs: Glyphs;
  readonly readOnly: boolean;
  readonly inDemo?: boolean;
}

/** The screen before anything was heard. */
export function startState({ addresses, inDemo = false, ...rest }: StartOptions): TopState {
  return {
    ...rest,
    inDemo,
    servers: addresses.map((address) => ({
      address,
      link: { kind: 'connecting' },
      info: undefined,
      agents: new Map(),
    })),
    scope: 'all',
    everything: new Map(),
    agents: new Map(),
    rates: new Map(),
    table: {
      sort: 'attention',
      drainingOnly: false,
      filter: '',
      typing: undefined,
      selected: undefined,
      marked: new Set(),
      order: [],
      keys: new Map(),
      top: 0,
      idWidth: 0,
    },
    views: [{ kind: 'agents' }],
    dialog: undefined,
    result: undefined,
    wants: undefined,
    requests: 0,
  };
}
