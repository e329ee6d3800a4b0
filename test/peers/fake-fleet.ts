import type { OperatorTimes, OperatorTools } from '../../src/commands/operator.ts';
import { defaultOperatorTimes } from '../../src/commands/operator.ts';
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
import { systemClock } from '../../src/proxy/ops/clock.ts';
import { Fault } from '../../src/proxy/ops/fault.ts';
import { adminAgent, adminOrder, adminStream, NOW } from './admin-agent.ts';

/** An agent of the model: what it is, and what runs through it at each server. */
export interface FakeAgent {
  readonly id: string;
  kind: 'ts' | 'go';
  instance: string;
  /** Servers that it is connected to; none: gone. */
  servers: string[];
  leavingSince?: Date;
  /** Known to our own agents alone. */
  order?: Order;
  tunnels: Tunnel[];
  readonly more: Partial<Agent>;
}

export const OPERATOR_TIMES: OperatorTimes = {
  ...defaultOperatorTimes,
  answerMs: 50,
  watchIntervalMs: 1,
  pollMs: 1,
  retryMs: 1,
  progressMs: 0,
  goneMs: 20,
  settleMs: 20,
};

/** Servers and agents in memory, behind the client's interface: what operator commands are tested against. */
export class FakeFleet {
  readonly servers: FakeServer[] = [];
  readonly agents = new Map<string, FakeAgent>();
  /** What --server-count of every server is. */
  serverCount: number;
  #watchers = new Set<() => void>();

  constructor(...serverIds: string[]) {
    this.serverCount = serverIds.length;
    for (const id of serverIds) this.servers.push(new FakeServer(this, id));
  }

  get first(): FakeServer {
    return this.servers[0] as FakeServer;
  }

  /** Adds an agent that is connected to all servers. */
  agent(
    id: string,
    more: Partial<Omit<FakeAgent, 'id' | 'more'>> & { more?: Partial<Agent> } = {},
  ): FakeAgent {
    const servers = this.servers.map((server) => server.id);
    const agent: FakeAgent = { id, kind: 'ts', instance: `${id}-1`, servers, tunnels: [], more: {}, ...more };
    this.agents.set(id, agent);
    this.changed();
    return agent;
  }

  /** Opens a tunnel at the first server, or at another. */
  tunnel(agentId: string, more: Partial<Tunnel> = {}): Tunnel {
    const agent = this.agents.get(agentId) as FakeAgent;
    const tunnel: Tunnel = {
      id: `t${agent.tunnels.length + 1}-${agentId}`,
      dialId: '4711',
      agent: agentId,
      destination: '10.0.1.18:10250',
      client: '10.9.9.9:4000',
      since: NOW,
      ageSeconds: 2_460,
      idleSeconds: 3,
      bytesToNode: 1_000,
      bytesFromNode: 2_000_000,
      bytesPerSecond: 11_000,
      bufferedBytes: 0,
      serverId: this.first.id,
      connectId: 7,
      strategy: 'default',
      mode: 'http-connect',
      ...more,
    };
    agent.tunnels.push(tunnel);
    this.changed();
    return tunnel;
  }

  /** Ends the tunnels of an agent. */
  endTunnels(agentId: string, closeReason = 'endpoint-closed'): void {
    const agent = this.agents.get(agentId) as FakeAgent;
    for (const tunnel of agent.tunnels) this.remember(tunnel, closeReason);
    agent.tunnels = [];
    this.changed();
  }

  remember(tunnel: Tunnel, closeReason: string): void {
    const server = this.servers.find((one) => one.id === tunnel.serverId);
    server?.ended.unshift({ ...tunnel, closeReason, endedAt: NOW });
  }

  /** The process of an agent ends: its tunnels are cut. */
  lose(agentId: string): void {
    const agent = this.agents.get(agentId) as FakeAgent;
    agent.servers = [];
    this.endTunnels(agentId, 'agent-lost');
  }

  changed(): void {
    for (const watcher of this.#watchers) watcher();
  }

  onChange(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  tools(times: Partial<OperatorTimes> = {}): OperatorTools {
    return {
      clock: systemClock,
      times: { ...OPERATOR_TIMES, ...times },
      addresses: async () => this.servers.map((server) => server.address),
      connect: async (address) => this.servers.find((server) => server.address === address) as FakeServer,
    };
  }
}

/** One server of the fleet, as its clients see it. */
export class FakeServer implements AdminClient {
  readonly id: string;
  readonly address: string;
  readonly fleet: FakeFleet;
  readonly stored = new Map<string, Order>();
  readonly requests: { readonly method: string; readonly request: unknown }[] = [];
  readonly log: AdminEvent[] = [];
  readonly ended: Tunnel[] = [];
  epoch = 'epoch-1';
  role: 'viewer' | 'operator' = 'operator';
  /** `down`: refuses; `silent`: never answers. */
  health: 'up' | 'down' | 'silent' = 'up';
  /** Thrown by every request. */
  refuses: Fault | undefined;
  keepsOrders = false;
  /** Answers of Select. */
  selection: Partial<Selection> = {};
  /** Thrown by the next Drain that changes something. */
  nextRefusal: Fault | undefined;
  clients = 0;
  #held:
    | { readonly method: string; readonly asked: () => void; readonly released: Promise<void> }
    | undefined;
  #losses = new Set<() => void>();

  constructor(fleet: FakeFleet, id: string) {
    this.fleet = fleet;
    this.id = id;
    this.address = `unix:///${id}/admin.sock`;
  }

  /** The next request of that kind waits until it is released. */
  hold(method: string): { readonly asked: Promise<void>; release(): void } {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const asked = new Promise<void>((resolve) => {
      this.#held = { method, asked: resolve, released };
    });
    return { asked, release };
  }

  down(): void {
    this.health = 'down';
    for (const loss of this.#losses) loss();
  }

  /** Comes back as a new process; without a state directory its orders are forgotten. */
  restart(): void {
    this.down();
    this.health = 'up';
    this.epoch = `epoch-${Number(this.epoch.slice(6)) + 1}`;
    if (!this.keepsOrders) this.stored.clear();
    this.ended.length = 0;
    this.fleet.changed();
  }

  /** An agent ID as this server sees it; undefined when it never knew it. */
  view(agent: FakeAgent): Agent | undefined {
    const { id, kind, instance, servers, leavingSince, tunnels, more } = agent;
    const here = servers.includes(this.id);
    const carried = kind === 'ts' && here ? agent.order : undefined;
    const own = this.stored.get(id);
    const order = own ?? (carried === undefined ? undefined : { ...carried, relayed: true });
    const drains = order !== undefined || (here && leavingSince !== undefined);
    const tunnelsHere = tunnels.filter((tunnel) => tunnel.serverId === this.id).length;
    const total = kind === 'ts' ? tunnels.length : tunnelsHere;
    return adminAgent(id, {
      state: !here ? 'gone' : !drains ? 'ready' : total > 0 ? 'draining' : 'drained',
      kind,
      ...(kind === 'ts' ? { instance } : { instance: '' }),
      ...(drains ? { source: leavingSince !== undefined ? 'leaving' : 'order' } : {}),
      ...(order === undefined ? {} : { order }),
      ...(leavingSince === undefined ? {} : { leavingSince }),
      conditions: kind === 'go' && this.fleet.serverCount > 1 ? ['partial'] : [],
      streams: here ? [adminStream({ serverId: this.id, instance })] : [],
      serverIds: !here ? [] : kind === 'ts' ? servers : [this.id],
      serverCount: kind === 'ts' ? this.fleet.serverCount : 0,
      tunnels: here ? total : 0,
      tunnelsHere: here ? tunnelsHere : 0,
      safeToStop: drains && total === 0,
      ...more,
    });
  }

  async server(signal: AbortSignal): Promise<ServerInfo> {
    await this.#answer('server', {}, signal);
    return this.#info();
  }

  async agents(request: object, signal: AbortSignal): Promise<readonly Agent[]> {
    await this.#answer('agents', request, signal);
    return this.#views();
  }

  async *watchAgents(request: WatchRequest, signal: AbortSignal): AsyncIterable<AgentsChange> {
    await this.#answer('watchAgents', request, signal);
    let wake = (): void => {};
    let lost = false;
    const stop = this.fleet.onChange(() => wake());
    const loss = (): void => {
      lost = true;
      wake();
    };
    this.#losses.add(loss);
    signal.addEventListener('abort', loss);
    if (signal.aborted) loss();
    try {
      for (let revision = 1; !lost; revision++) {
        const next = new Promise<void>((resolve) => {
          wake = resolve;
        });
        const snapshot = revision === 1;
        yield {
          snapshot,
          snapshotComplete: snapshot,
          epoch: this.epoch,
          revision,
          changed: this.#views(),
          removed: [],
          server: this.#info(),
        };
        if (!lost) await next;
      }
      if (!signal.aborted) throw new Fault('admin-unreachable', `${this.address} is lost`);
    } finally {
      stop();
      this.#losses.delete(loss);
      signal.removeEventListener('abort', loss);
    }
  }

  async agent(id: string, signal: AbortSignal): Promise<AgentDetails> {
    await this.#answer('agent', { id }, signal);
    const agent = this.#views().find((one) => one.id === id);
    if (agent === undefined) throw new Fault('admin-not-found', `there is no agent ${id}`);
    return { agent, tunnels: [], ended: [], events: [] };
  }

  async drain(request: DrainRequest, signal: AbortSignal): Promise<readonly DrainResult[]> {
    await this.#answer('drain', request, signal);
    if (this.role === 'viewer') throw new Fault('admin-denied', 'viewers may only look');
    const known = request.agentIds.map((id) => this.#known(id));
    const staying = [...this.fleet.agents.values()].filter((agent) => this.view(agent)?.state === 'ready');
    if (
      !request.force &&
      staying.length > 0 &&
      staying.every((agent) => request.agentIds.includes(agent.id))
    ) {
      const what = `it would leave any destination at ${this.id} with draining agents alone`;
      throw new Fault('admin-refused', what);
    }
    if (this.nextRefusal !== undefined && !request.validateOnly) {
      const refusal = this.nextRefusal;
      this.nextRefusal = undefined;
      throw refusal;
    }
    const results = known.map((agent) => this.#drainOne(agent, request));
    this.fleet.changed();
    return results;
  }

  async undrain(request: UndrainRequest, signal: AbortSignal): Promise<readonly UndrainResult[]> {
    await this.#answer('undrain', request, signal);
    const known = request.agentIds.map((id) => this.#known(id));
    const leaving = known.find((agent) => agent.kind === 'ts' && agent.leavingSince !== undefined);
    if (leaving !== undefined) throw new Fault('admin-refused', `${leaving.id} is shutting down`);
    const results = known.map((agent): UndrainResult => {
      const order = this.stored.get(agent.id) ?? agent.order;
      if (!request.validateOnly) {
        for (const server of this.fleet.servers) if (agent.kind === 'ts') server.stored.delete(agent.id);
        this.stored.delete(agent.id);
        delete agent.order;
      }
      const change = order === undefined ? 'unchanged' : 'ended';
      const view = this.view(agent) as Agent;
      return { agentId: agent.id, change, ...(order === undefined ? {} : { order }), agent: view, notes: [] };
    });
    this.fleet.changed();
    return results;
  }

  async orders(signal: AbortSignal): Promise<readonly Order[]> {
    await this.#answer('orders', {}, signal);
    return this.#views().flatMap((agent) => agent.order ?? []);
  }

  async select(request: SelectRequest, signal: AbortSignal): Promise<Selection> {
    await this.#answer('select', request, signal);
    return {
      server: this.id,
      target: request.target,
      choice: 'random',
      agent: 'node-a',
      strategy: 'default',
      fallback: false,
      reason: '',
      strategies: [],
      looks: [],
      choices: 2,
      history: [],
      ...this.selection,
    };
  }

  async tunnels(request: TunnelsRequest, signal: AbortSignal): Promise<TunnelsPage> {
    await this.#answer('tunnels', request, signal);
    const running = [...this.fleet.agents.values()].flatMap((agent) => agent.tunnels);
    const all = request.closed ? this.ended : running.filter((tunnel) => tunnel.serverId === this.id);
    const matching = all.filter(
      (tunnel) =>
        (request.agent === undefined || tunnel.agent === request.agent) &&
        (request.idleAtLeastSeconds === undefined || tunnel.idleSeconds >= request.idleAtLeastSeconds),
    );
    if (request.sort === 'age') matching.sort((a, b) => b.ageSeconds - a.ageSeconds);
    const start = Number(request.pageToken ?? '0');
    const end = start + (request.pageSize ?? 100);
    const nextPageToken = end < matching.length ? String(end) : '';
    return { tunnels: matching.slice(start, end), nextPageToken, total: matching.length };
  }

  async closeTunnel(request: CloseTunnelRequest, signal: AbortSignal): Promise<Tunnel> {
    await this.#answer('closeTunnel', request, signal);
    for (const agent of this.fleet.agents.values()) {
      const tunnel = agent.tunnels.find((one) => one.id === request.id && one.serverId === this.id);
      if (tunnel === undefined) continue;
      if (!request.validateOnly) {
        agent.tunnels = agent.tunnels.filter((one) => one !== tunnel);
        this.fleet.remember(tunnel, 'closed-by-operator');
        this.fleet.changed();
      }
      return tunnel;
    }
    throw new Fault('admin-not-found', `there is no tunnel ${request.id}`);
  }

  async *events(request: EventsRequest, signal: AbortSignal): AsyncIterable<AdminEvent> {
    await this.#answer('events', request, signal);
    const { since } = request;
    for (const event of since === undefined ? [] : this.log.filter(({ time }) => time >= since)) yield event;
    if (!request.follow) return;
    let shown = this.log.length;
    while (!signal.aborted) {
      for (const event of this.log.slice(shown)) yield event;
      shown = this.log.length;
      await new Promise<void>((resolve) => {
        const stop = this.fleet.onChange(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
        void stop;
      });
    }
  }

  event(type: string, message: string, more: Partial<AdminEvent> = {}): void {
    const number = this.log.length + 1;
    this.log.push({
      number,
      time: NOW,
      type,
      message,
      serverId: this.id,
      epoch: this.epoch,
      missed: 0,
      ...more,
    });
    this.fleet.changed();
  }

  close(): void {
    this.clients--;
  }

  /** Requests of one kind, in order. */
  asked<T = unknown>(method: string): T[] {
    return this.requests.filter((one) => one.method === method).map((one) => one.request as T);
  }

  async #answer(method: string, request: unknown, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.requests.push({ method, request });
    const held = this.#held;
    if (held?.method === method) {
      this.#held = undefined;
      held.asked();
      const aborted = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
      await Promise.race([held.released, aborted]);
    }
    if (this.refuses !== undefined) throw this.refuses;
    if (this.health === 'down') throw new Fault('admin-unreachable', `${this.address} cannot be reached`);
    if (this.health === 'up') return;
    await new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  }

  #views(): Agent[] {
    return [...this.fleet.agents.values()]
      .flatMap((agent) => this.view(agent) ?? [])
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  #known(id: string): FakeAgent {
    const agent = this.fleet.agents.get(id);
    if (agent === undefined) throw new Fault('admin-not-found', `there is no agent ${id}`);
    return agent;
  }

  #drainOne(agent: FakeAgent, request: DrainRequest): DrainResult {
    const previous = this.stored.get(agent.id) ?? agent.order;
    const { reason, atDeadline, until, deadlineSeconds } = request;
    const differs = (given: string | undefined, before: string | undefined): boolean =>
      given !== undefined && given !== before;
    const update =
      differs(reason, previous?.reason) ||
      differs(atDeadline, previous?.atDeadline) ||
      differs(until, previous?.until) ||
      deadlineSeconds !== undefined;
    const change = previous === undefined ? 'placed' : update ? 'updated' : 'unchanged';
    const { deadline, ...kept } = previous ?? adminOrder(agent.id, { reason: '' });
    const ends = deadlineSeconds === undefined ? deadline : new Date(NOW.getTime() + deadlineSeconds * 1_000);
    const order: Order = {
      ...kept,
      id: previous?.id ?? request.orderIds?.[agent.id] ?? 'made-by-server',
      version: (previous?.version ?? 0) + (change === 'unchanged' ? 0 : 1),
      ...(reason === undefined ? {} : { reason }),
      ...(atDeadline === undefined ? {} : { atDeadline }),
      ...(until === undefined ? {} : { until }),
      ...(ends === undefined || deadlineSeconds === 0 ? {} : { deadline: ends }),
      relayed: false,
    };
    if (!request.validateOnly) {
      this.stored.set(agent.id, order);
      if (agent.kind === 'ts' && agent.servers.length > 0) agent.order = order;
      if (previous === undefined)
        this.event('order-placed', `${agent.id} is to drain`, { orderId: order.id });
    }
    return {
      agentId: agent.id,
      change,
      order,
      ...(change === 'updated' && previous !== undefined ? { previous } : {}),
      agent: this.view(agent) as Agent,
      takeover: [`any destination -> ${this.fleet.agents.size - 1} ready agents`],
      notes: [],
    };
  }

  #info(): ServerInfo {
    const totals = { ready: 0, draining: 0, drained: 0, gone: 0, tunnels: 0, pendingDials: 0, dialsTotal: 0 };
    const rates = {
      failedDialsTotal: 0,
      dialsPerSecond: 0,
      bytesToNodePerSecond: 0,
      bytesFromNodePerSecond: 0,
    };
    return {
      id: this.id,
      version: 'test',
      epoch: this.epoch,
      startedAt: NOW,
      serverCount: this.fleet.serverCount,
      strategies: ['default'],
      unservedStrategies: [],
      stopping: false,
      totals: { ...totals, ...rates, bufferedBytes: 0 },
      caller: { name: '', role: this.role },
      keepsOrders: this.keepsOrders,
    };
  }
}
