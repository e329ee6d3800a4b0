import type { Agent, AgentDetails, DrainResult, UndrainResult } from '../model/agent.ts';
import type { AdminEvent, EventsRequest } from '../model/event.ts';
import type { DrainRequest, Order, UndrainRequest } from '../model/order.ts';
import type { Selection, SelectRequest } from '../model/selection.ts';
import type { AgentsChange, ServerInfo } from '../model/server-info.ts';
import type { CloseTunnelRequest, Tunnel, TunnelsPage, TunnelsRequest } from '../model/tunnel.ts';

export interface WatchRequest {
  /** From 0.1 to 60. */
  readonly intervalSeconds: number;
  /** IDs whose rates are wanted, at most 500. */
  readonly ratesFor: readonly string[];
  /** Only these agents, at most 500; left out: all. */
  readonly only?: readonly string[];
}

/**
 * The admin API of one server. Every method rejects with a Fault: `admin-unreachable`, `admin-denied`,
 * `admin-not-found`, `admin-refused` (a rail), `admin-bad-request`; and with the signal's reason when it is aborted.
 */
export interface AdminClient {
  /** Where it connects to, for people: `unix:///path` or `host:port`. */
  readonly address: string;
  server(signal: AbortSignal): Promise<ServerInfo>;
  /** All of them, in the order of their IDs. */
  agents(request: { readonly ratesFor?: readonly string[] }, signal: AbortSignal): Promise<readonly Agent[]>;
  /** Ends with the signal; throws when the stream is lost. */
  watchAgents(request: WatchRequest, signal: AbortSignal): AsyncIterable<AgentsChange>;
  agent(id: string, signal: AbortSignal): Promise<AgentDetails>;
  drain(request: DrainRequest, signal: AbortSignal): Promise<readonly DrainResult[]>;
  undrain(request: UndrainRequest, signal: AbortSignal): Promise<readonly UndrainResult[]>;
  orders(signal: AbortSignal): Promise<readonly Order[]>;
  select(request: SelectRequest, signal: AbortSignal): Promise<Selection>;
  tunnels(request: TunnelsRequest, signal: AbortSignal): Promise<TunnelsPage>;
  closeTunnel(request: CloseTunnelRequest, signal: AbortSignal): Promise<Tunnel>;
  events(request: EventsRequest, signal: AbortSignal): AsyncIterable<AdminEvent>;
  close(): void;
}
