import type { Agent, AgentDetails, DrainResult, UndrainResult } from '../model/agent.ts';
import type { AdminEvent, EventsRequest } from '../model/event.ts';
import type { DrainRequest, Order, UndrainRequest } from '../model/order.ts';
import type { Selection, SelectRequest } from '../model/selection.ts';
import type { AgentsChange, ServerInfo } from '../model/server-info.ts';
import type { CloseTunnelRequest, Tunnel, TunnelsPage, TunnelsRequest } from '../model/tunnel.ts';
import type { Encoded } from './encode-message.ts';

export interface AgentsPage {
  readonly agents: readonly Agent[];
  readonly nextPageToken: string;
  readonly revision: number;
  readonly epoch: string;
}

interface Method<Request, Response> {
  readonly request: Request;
  readonly response: Response;
}

/** An agent may be encoded already where it is sent. */
type Sent<Page, Name extends keyof Page> = Omit<Page, Name> & {
  readonly [Key in Name]: readonly (Agent | Encoded)[];
};

/** Request and response of each method, as the model has them. A request that arrives has every field. */
export interface AdminMethods {
  readonly GetServer: Method<Record<never, never>, ServerInfo>;
  readonly ListAgents: Method<
    { readonly pageSize?: number; readonly pageToken?: string; readonly ratesFor?: readonly string[] },
    AgentsPage | Sent<AgentsPage, 'agents'>
  >;
  readonly WatchAgents: Method<
    {
      readonly intervalSeconds: number;
      readonly ratesFor: readonly string[];
      readonly only?: readonly string[];
    },
    AgentsChange | Sent<AgentsChange, 'changed'>
  >;
  readonly GetAgent: Method<{ readonly id: string }, AgentDetails>;
  readonly Drain: Method<DrainRequest, { readonly results: readonly DrainResult[] }>;
  readonly Undrain: Method<UndrainRequest, { readonly results: readonly UndrainResult[] }>;
  readonly ListOrders: Method<
    { readonly pageSize?: number; readonly pageToken?: string },
    { readonly orders: readonly Order[]; readonly nextPageToken: string }
  >;
  readonly Select: Method<SelectRequest, Selection>;
  readonly ListTunnels: Method<TunnelsRequest, TunnelsPage>;
  readonly CloseTunnel: Method<CloseTunnelRequest, { readonly tunnel: Tunnel }>;
  readonly WatchEvents: Method<EventsRequest, AdminEvent>;
}
