import { type Client, Metadata, type ServiceError } from '@grpc/grpc-js';
import type { AdminMethods } from '../messages/message-types.ts';
import { type MethodName, methodCodec } from '../messages/methods.ts';
import type { Agent, AgentDetails, DrainResult, UndrainResult } from '../model/agent.ts';
import type { AdminEvent, EventsRequest } from '../model/event.ts';
import type { DrainRequest, Order, UndrainRequest } from '../model/order.ts';
import type { Selection, SelectRequest } from '../model/selection.ts';
import type { AgentsChange, ServerInfo } from '../model/server-info.ts';
import type { CloseTunnelRequest, Tunnel, TunnelsPage, TunnelsRequest } from '../model/tunnel.ts';
import type { AdminClient, WatchRequest } from './admin-client.ts';
import { adminFault } from './admin-fault.ts';

/** What a client is, besides its channel. */
export interface GrpcAdminClientOptions {
  readonly address: string;
  /** Empty: not said. */
  readonly actor: string;
  readonly timeoutMs: number;
  /** The last error of a TLS connection, once: grpc-js' own text says less. */
  takeConnectionError(): unknown;
  /** Closes the channel and its connections. */
  release(): void;
}

type RequestOf<Name extends MethodName> = AdminMethods[Name]['request'];
type ResponseOf<Name extends MethodName> = AdminMethods[Name]['response'];

/** The admin API over gRPC. */
export class GrpcAdminClient implements AdminClient {
  readonly address: string;
  readonly #client: Client;
  readonly #options: GrpcAdminClientOptions;

  constructor(client: Client, options: GrpcAdminClientOptions) {
    this.address = options.address;
    this.#client = client;
    this.#options = options;
  }

  server(signal: AbortSignal): Promise<ServerInfo> {
    return this.#call('GetServer', {}, signal);
  }

  async agents(request: { readonly ratesFor?: readonly string[] }, signal: AbortSignal): Promise<Agent[]> {
    const agents: Agent[] = [];
    let pageToken = '';
    do {
      const page = await this.#call('ListAgents', { ...request, pageToken }, signal);
      agents.push(...(page.agents as readonly Agent[]));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    return agents;
  }

  watchAgents(request: WatchRequest, signal: AbortSignal): AsyncIterable<AgentsChange> {
    return this.#stream('WatchAgents', request, signal) as AsyncIterable<AgentsChange>;
  }

  agent(id: string, signal: AbortSignal): Promise<AgentDetails> {
    return this.#call('GetAgent', { id }, signal);
  }

  async drain(request: DrainRequest, signal: AbortSignal): Promise<readonly DrainResult[]> {
    return (await this.#call('Drain', this.#signed(request), signal)).results;
  }

  async undrain(request: UndrainRequest, signal: AbortSignal): Promise<readonly UndrainResult[]> {
    return (await this.#call('Undrain', this.#signed(request), signal)).results;
  }

  async orders(signal: AbortSignal): Promise<readonly Order[]> {
    const orders: Order[] = [];
    let pageToken = '';
    do {
      const page = await this.#call('ListOrders', { pageToken }, signal);
      orders.push(...page.orders);
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    return orders;
  }

  select(request: SelectRequest, signal: AbortSignal): Promise<Selection> {
    return this.#call('Select', request, signal);
  }

  tunnels(request: TunnelsRequest, signal: AbortSignal): Promise<TunnelsPage> {
    return this.#call('ListTunnels', request, signal);
  }

  async closeTunnel(request: CloseTunnelRequest, signal: AbortSignal): Promise<Tunnel> {
    return (await this.#call('CloseTunnel', this.#signed(request), signal)).tunnel;
  }

  events(request: EventsRequest, signal: AbortSignal): AsyncIterable<AdminEvent> {
    return this.#stream('WatchEvents', request, signal);
  }

  close(): void {
    this.#options.release();
  }

  #signed<Request extends { readonly actor?: string }>(request: Request): Request {
    return request.actor === undefined ? { ...request, actor: this.#options.actor } : request;
  }

  #metadata(): Metadata {
    const metadata = new Metadata();
    const { actor } = this.#options;
    // Metadata is ASCII.
    if (actor !== '') metadata.set('kts-actor', actor.replace(/[^ -~]/g, '?'));
    return metadata;
  }

  #call<Name extends MethodName>(
    name: Name,
    request: RequestOf<Name>,
    signal: AbortSignal,
  ): Promise<ResponseOf<Name>> {
    const { path, encodeRequest, decodeResponse } = methodCodec(name);
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const deadline = Date.now() + this.#options.timeoutMs;
      const done = (error: ServiceError | null, response?: ResponseOf<Name>): void => {
        signal.removeEventListener('abort', cancel);
        if (error === null) resolve(response as ResponseOf<Name>);
        else reject(signal.aborted ? signal.reason : this.#fault(error));
      };
      const call = this.#client.makeUnaryRequest(
        path,
        encodeRequest,
        decodeResponse,
        request,
        this.#metadata(),
        { deadline },
        done,
      );
      const cancel = (): void => call.cancel();
      signal.addEventListener('abort', cancel, { once: true });
    });
  }

  async *#stream<Name extends MethodName>(
    name: Name,
    request: RequestOf<Name>,
    signal: AbortSignal,
  ): AsyncGenerator<ResponseOf<Name>> {
    if (signal.aborted) return;
    const { path, encodeRequest, decodeResponse } = methodCodec(name);
    const call = this.#client.makeServerStreamRequest(
      path,
      encodeRequest,
      decodeResponse,
      request,
      this.#metadata(),
    );
    // The end of a cancelled call comes after everybody stopped listening.
    call.on('error', () => {});
    const cancel = (): void => call.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      for await (const message of call) {
        if (signal.aborted) return;
        yield message as ResponseOf<Name>;
      }
    } catch (error) {
      if (!signal.aborted) throw this.#fault(error as ServiceError);
    } finally {
      signal.removeEventListener('abort', cancel);
      call.cancel();
    }
  }

  #fault(error: ServiceError): Error {
    return adminFault(error, this.address, this.#options.takeConnectionError());
  }
}
