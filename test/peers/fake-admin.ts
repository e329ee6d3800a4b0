import type { AdminClient, WatchRequest } from '../../src/proxy/admin/client/admin-client.ts';
import type { Agent, AgentDetails, DrainResult, UndrainResult } from '../../src/proxy/admin/model/agent.ts';
import type { AdminEvent, EventsRequest } from '../../src/proxy/admin/model/event.ts';
import type { DrainRequest, Order, UndrainRequest } from '../../src/proxy/admin/model/order.ts';
import type { Selection, SelectRequest } from '../../src/proxy/admin/model/selection.ts';
import type { AgentsChange, ServerInfo } from '../../src/proxy/admin/model/server-info.ts';
import type {
  CloseTunnelRequest,
  Tunnel,
  TunnelsPage,
  TunnelsRequest,
} from '../../src/proxy/admin/model/tunnel.ts';

export function serverInfo(change: Partial<ServerInfo> = {}): ServerInfo {
  return {
    id: 'cp-1',
    version: '0.1.0',
    epoch: 'e1',
    startedAt: new Date(0),
    serverCount: 1,
    strategies: ['destHost', 'default'],
    unservedStrategies: [],
    stopping: false,
    totals: {
      ready: 0,
      draining: 0,
      drained: 0,
      gone: 0,
      tunnels: 0,
      pendingDials: 0,
      dialsTotal: 0,
      failedDialsTotal: 0,
      dialsPerSecond: 0,
      bytesToNodePerSecond: 0,
      bytesFromNodePerSecond: 0,
      bufferedBytes: 0,
    },
    caller: { name: '', role: 'operator' },
    keepsOrders: false,
    ...change,
  };
}

/** The admin API of a server that exists in the test alone; it changes when the test says so. */
export class FakeAdmin implements AdminClient {
  readonly address: string;
  info: ServerInfo;
  readonly agentsById = new Map<string, Agent>();
  /** Every request that changes something, or would. */
  readonly asked: (DrainRequest | UndrainRequest | CloseTunnelRequest)[] = [];
  tunnelsHere: Tunnel[] = [];
  /** Thrown by every call while it is set. */
  failure: Error | undefined;
  /** Thrown by drain without force. */
  guard: Error | undefined;
  #revision = 0;
  readonly #watchers = new Set<(change: AgentsChange | Error) => void>();

  constructor(agents: readonly Agent[] = [], info: Partial<ServerInfo> = {}, address = 'unix:///fake.sock') {
    this.address = address;
    this.info = serverInfo(info);
    for (const agent of agents) this.agentsById.set(agent.id, agent);
  }

  /** Changes agents and tells the watches. */
  change(...agents: readonly Agent[]): void {
    for (const agent of agents) this.agentsById.set(agent.id, agent);
    this.#tell({ changed: agents, removed: [] });
  }

  remove(id: string): void {
    this.agentsById.delete(id);
    this.#tell({ changed: [], removed: [id] });
  }

  /** Every call fails from here on, the watches at once. */
  fail(error: Error): void {
    this.failure = error;
    for (const watcher of this.#watchers) watcher(error);
  }

  get watches(): number {
    return this.#watchers.size;
  }

  async server(): Promise<ServerInfo> {
    this.#check();
    return this.info;
  }

  async agents(): Promise<readonly Agent[]> {
    this.#check();
    return [...this.agentsById.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async *watchAgents(request: WatchRequest, signal: AbortSignal): AsyncIterable<AgentsChange> {
    this.#check();
    const wanted = (agent: Agent): boolean => request.only === undefined || request.only.includes(agent.id);
    const queue: (AgentsChange | Error)[] = [];
    let wake: () => void = () => {};
    const push = (change: AgentsChange | Error): void => {
      queue.push(change);
      wake();
    };
    const onAbort = (): void => wake();
    signal.addEventListener('abort', onAbort);
    this.#watchers.add(push);
    try {
      yield {
        snapshot: true,
        snapshotComplete: true,
        epoch: this.info.epoch,
        revision: this.#revision,
        changed: [...this.agentsById.values()].filter(wanted),
        removed: [],
        server: this.info,
      };
      while (!signal.aborted) {
        const next = queue.shift();
        if (next instanceof Error) throw next;
        if (next !== undefined) yield { ...next, changed: next.changed.filter(wanted) };
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
      throw signal.reason;
    } finally {
      this.#watchers.delete(push);
      signal.removeEventListener('abort', onAbort);
    }
  }

  async agent(id: string): Promise<AgentDetails> {
    return {
      agent: this.#known(id),
      tunnels: this.tunnelsHere.filter(({ agent }) => agent === id),
      ended: [],
      events: [],
    };
  }

  async drain(request: DrainRequest): Promise<readonly DrainResult[]> {
    this.#check();
    this.asked.push(request);
    if (this.guard !== undefined && request.force !== true) throw this.guard;
    return request.agentIds.map((agentId): DrainResult => {
      const before = this.#known(agentId);
      const order = orderFor(agentId, request, before.order);
      const agent: Agent = request.validateOnly
        ? before
        : { ...before, state: before.tunnels > 0 ? 'draining' : 'drained', source: 'order', order };
      if (!request.validateOnly) this.change(agent);
      const change = before.order === undefined ? 'placed' : 'updated';
      return { agentId, change, order, agent, takeover: ['any destination -> 2 ready agents'], notes: [] };
    });
  }

  async undrain(request: UndrainRequest): Promise<readonly UndrainResult[]> {
    this.#check();
    this.asked.push(request);
    return request.agentIds.map((agentId): UndrainResult => {
      const { order, source: _, ...rest } = this.#known(agentId);
      const agent: Agent = { ...rest, state: 'ready' };
      if (!request.validateOnly) this.change(agent);
      return { agentId, change: order === undefined ? 'unchanged' : 'ended', agent, notes: [] };
    });
  }

  async orders(): Promise<readonly Order[]> {
    this.#check();
    return [...this.agentsById.values()].flatMap(({ order }) => order ?? []);
  }

  async select({ target }: SelectRequest): Promise<Selection> {
    this.#check();
    const ready = [...this.agentsById.values()].filter(({ state }) => state === 'ready');
    return {
      server: this.info.id,
      target,
      choice: ready.length === 0 ? 'none' : ready.length === 1 ? 'only' : 'random',
      agent: ready[0]?.id ?? '',
      strategy: 'default',
      fallback: false,
      reason: '',
      strategies: [{ name: 'default', key: '', matches: ready.length, candidates: [] }],
      looks: [{ pass: 'ready', strategy: 'default', found: ready.length }],
      choices: ready.length,
      history: [],
    };
  }

  async tunnels({ agent }: TunnelsRequest): Promise<TunnelsPage> {
    this.#check();
    const tunnels = this.tunnelsHere.filter((one) => agent === undefined || one.agent === agent);
    return { tunnels, nextPageToken: '', total: tunnels.length };
  }

  async closeTunnel(request: CloseTunnelRequest): Promise<Tunnel> {
    this.#check();
    this.asked.push(request);
    const tunnel = this.tunnelsHere.find(({ id }) => id === request.id);
    if (tunnel === undefined) throw new Error(`no tunnel ${request.id}`);
    this.tunnelsHere = this.tunnelsHere.filter((one) => one !== tunnel);
    return tunnel;
  }

  async *events(_request: EventsRequest, signal: AbortSignal): AsyncIterable<AdminEvent> {
    this.#check();
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    yield* [];
  }

  close(): void {}

  #check(): void {
    if (this.failure !== undefined) throw this.failure;
  }

  #known(id: string): Agent {
    this.#check();
    const agent = this.agentsById.get(id);
    if (agent === undefined) throw new Error(`no agent ${id}`);
    return agent;
  }

  #tell({ changed, removed }: Pick<AgentsChange, 'changed' | 'removed'>): void {
    this.#revision++;
    const { epoch } = this.info;
    const revision = this.#revision;
    for (const watcher of this.#watchers) {
      watcher({
        snapshot: false,
        snapshotComplete: false,
        epoch,
        revision,
        changed,
        removed,
        server: this.info,
      });
    }
  }
}

function orderFor(agentId: string, request: DrainRequest, before: Order | undefined): Order {
  const { reason, deadlineSeconds, atDeadline, until, orderIds } = request;
  return {
    id: before?.id ?? orderIds?.[agentId] ?? 'order1',
    agentId,
    actor: request.actor ?? 'tester@here',
    actorClaimed: true,
    reason: reason ?? before?.reason ?? '',
    since: before?.since ?? new Date(),
    ...(deadlineSeconds ? { deadline: new Date(Date.now() + deadlineSeconds * 1_000) } : {}),
    atDeadline: atDeadline ?? before?.atDeadline ?? 'keep',
    until: until ?? before?.until ?? 'undrain',
    relayed: false,
    acknowledged: true,
    overdue: false,
    version: (before?.version ?? 0) + 1,
  };
}
