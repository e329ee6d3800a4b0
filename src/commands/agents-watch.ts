import type { AdminClient } from '../proxy/admin/client/admin-client.ts';
import type { Agent } from '../proxy/admin/model/agent.ts';
import type { ServerView } from '../proxy/admin/model/merge-agents.ts';
import type { AgentsChange } from '../proxy/admin/model/server-info.ts';
import { Fault } from '../proxy/ops/fault.ts';
import { silentServer } from './ask-all.ts';
import type { Operator } from './operator.ts';

/** A server takes no longer list; then all are watched. */
const MOST_WATCHED = 500;

/** What is known of one watched server. Views keep their last picture while the server is lost. */
export interface WatchedServer {
  readonly client: AdminClient;
  readonly serverId: string | undefined;
  readonly serverCount: number | undefined;
  readonly epoch: string | undefined;
  /** Its first whole picture since it was started, or since it was lost, is there. */
  readonly answers: boolean;
  /** Why it does not, if that is known. */
  readonly fault: Fault | undefined;
  readonly agents: ReadonlyMap<string, Agent>;
}

export type WatchNews =
  | { readonly kind: 'changed'; readonly client: AdminClient }
  | { readonly kind: 'lost'; readonly client: AdminClient; readonly fault: Fault }
  | { readonly kind: 'back'; readonly client: AdminClient }
  | { readonly kind: 'restarted'; readonly client: AdminClient; readonly serverId: string };

export interface AgentsWatchOptions {
  /** Only these; all of them when left out. */
  readonly ids?: readonly string[];
  readonly signal: AbortSignal;
  onNews(news: WatchNews): void;
}

/** Follows the agents of several servers; a server that is lost is tried again until the signal. */
export class AgentsWatch {
  readonly #servers: Watched[];
  readonly #done: Promise<unknown>;

  constructor(operator: Operator, options: AgentsWatchOptions) {
    this.#servers = operator.clients.map((client) => new Watched(client));
    this.#done = Promise.all(this.#servers.map((server) => server.follow(operator, options)));
  }

  get servers(): readonly WatchedServer[] {
    return this.#servers;
  }

  /** For merging: a server that is lost counts as one that did not answer. */
  get views(): ServerView[] {
    return this.#servers.map(({ serverId, serverCount, answers, agents }) => ({
      ...(serverId === undefined ? {} : { serverId }),
      ...(serverCount === undefined ? {} : { serverCount }),
      ...(answers ? { agents: [...agents.values()] } : {}),
    }));
  }

  /** Resolves when all has ended after the signal. @throws what is no Fault */
  get ended(): Promise<unknown> {
    return this.#done;
  }
}

class Watched implements WatchedServer {
  readonly client: AdminClient;
  serverId: string | undefined;
  serverCount: number | undefined;
  epoch: string | undefined;
  answers = false;
  fault: Fault | undefined;
  agents = new Map<string, Agent>();
  #coming: Map<string, Agent> | undefined;

  constructor(client: AdminClient) {
    this.client = client;
  }

  async follow(operator: Operator, options: AgentsWatchOptions): Promise<void> {
    const { clock, times } = operator;
    const { signal, ids } = options;
    const request = {
      intervalSeconds: times.watchIntervalMs / 1_000,
      ratesFor: [],
      ...(ids === undefined || ids.length > MOST_WATCHED ? {} : { only: ids }),
    };
    while (!signal.aborted) {
      let fault = new Fault('admin-unreachable', `${this.client.address} ended the watch`);
      // A connection to a server that hangs stands, and says nothing.
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), times.answerMs);
      try {
        const ended = AbortSignal.any([signal, late.signal]);
        for await (const change of this.client.watchAgents(request, ended)) {
          this.#take(change, options);
          if (this.answers) clearTimeout(timer);
        }
        if (late.signal.aborted) fault = silentServer(this.client, times.answerMs);
      } catch (error) {
        if (signal.aborted) return;
        if (late.signal.aborted) fault = silentServer(this.client, times.answerMs, error);
        else if (error instanceof Fault) fault = error;
        else throw error;
      } finally {
        clearTimeout(timer);
      }
      if (signal.aborted) return;
      this.#lose(fault, options);
      await clock.wait(times.retryMs, signal);
    }
  }

  #lose(fault: Fault, options: AgentsWatchOptions): void {
    this.answers = false;
    this.#coming = undefined;
    // Told once, and again when it is something else: refused, where it could not be reached before.
    const isTold = this.fault?.code === fault.code;
    this.fault = fault;
    if (!isTold) options.onNews({ kind: 'lost', client: this.client, fault });
  }

  #take(change: AgentsChange, options: AgentsWatchOptions): void {
    if (change.server !== undefined) {
      this.serverId = change.server.id;
      this.serverCount = change.server.serverCount;
    }
    if (change.snapshot) this.#coming ??= new Map();
    const target = this.#coming ?? this.agents;
    for (const agent of change.changed) {
      if (options.ids === undefined || options.ids.includes(agent.id)) target.set(agent.id, agent);
    }
    for (const id of change.removed) target.delete(id);
    if (change.snapshot && !change.snapshotComplete) return;
    this.agents = target;
    this.#coming = undefined;
    const restarted = this.epoch !== undefined && this.epoch !== change.epoch;
    this.epoch = change.epoch;
    this.answers = true;
    if (restarted) {
      options.onNews({
        kind: 'restarted',
        client: this.client,
        serverId: this.serverId ?? this.client.address,
      });
    } else if (this.fault !== undefined) options.onNews({ kind: 'back', client: this.client });
    this.fault = undefined;
    options.onNews({ kind: 'changed', client: this.client });
  }
}
