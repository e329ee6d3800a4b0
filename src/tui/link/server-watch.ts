import type { AdminClient } from '../../proxy/admin/client/admin-client.ts';
import type { Agent } from '../../proxy/admin/model/agent.ts';
import type { AgentsChange, ServerInfo } from '../../proxy/admin/model/server-info.ts';
import type { LinkState, ServerState } from '../state/top-state.ts';
import { pause } from './pause.ts';
import { reasonText } from './reason-text.ts';

export interface WatchTimes {
  readonly intervalMs: number;
  /** Without a message for so long, the server is asked whether it is there; without one of the list, it is tried again. */
  readonly silenceMs: number;
  readonly answerTimeoutMs: number;
  /** Before each new attempt in turn; the last one goes on. */
  readonly retryMs: readonly number[];
}

export const defaultWatchTimes: WatchTimes = {
  intervalMs: 1_000,
  silenceMs: 4_000,
  answerTimeoutMs: 3_000,
  retryMs: [500, 1_000, 2_000, 3_000],
};

/** Keeps the picture of one server: a watch, made again for as long as the signal stands. */
export class ServerWatch {
  readonly client: AdminClient;
  readonly #times: WatchTimes;
  readonly #onChange: () => void;
  readonly #now: () => number;
  #agents = new Map<string, Agent>();
  /** A snapshot that is still arriving. */
  #arriving: Map<string, Agent> | undefined;
  #info: ServerInfo | undefined;
  #link: LinkState = { kind: 'connecting' };
  #heardMs = 0;
  /** The attempt in which the server has answered. */
  #heardOf: AbortController | undefined;
  #attempts = 0;

  constructor(client: AdminClient, onChange: () => void, times = defaultWatchTimes, now = Date.now) {
    this.client = client;
    this.#times = times;
    this.#onChange = onChange;
    this.#now = now;
  }

  get state(): ServerState {
    const link = this.#link.kind === 'live' ? { ...this.#link, heardMs: this.#heardMs } : this.#link;
    return { address: this.client.address, link, info: this.#info, agents: this.#agents };
  }

  /** Resolves when the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const attempt = new AbortController();
      const both = AbortSignal.any([signal, attempt.signal]);
      let reason = 'the server ended the watch';
      const silence = this.#guardSilence(attempt);
      try {
        this.#info = await this.#askServer(both);
        this.#heardOf = attempt;
        const request = { intervalSeconds: this.#times.intervalMs / 1_000, ratesFor: [] };
        for await (const change of this.client.watchAgents(request, both)) this.#take(change);
        // An aborted stream just ends.
        attempt.signal.throwIfAborted();
      } catch (error) {
        reason = reasonText(attempt.signal.aborted ? attempt.signal.reason : error);
      } finally {
        clearInterval(silence);
        attempt.abort();
      }
      if (signal.aborted) return;
      const waitMs = this.#times.retryMs[Math.min(this.#attempts, this.#times.retryMs.length - 1)] ?? 1_000;
      this.#attempts++;
      this.#lose(reason, this.#now() + waitMs);
      await pause(waitMs, signal);
      if (this.#link.kind === 'lost') this.#link = { ...this.#link, retryAtMs: undefined };
      else if (this.#link.kind === 'connecting') this.#link = { kind: 'connecting', reason };
      this.#onChange();
    }
  }

  #take(change: AgentsChange): void {
    this.#heardMs = this.#now();
    if (change.server !== undefined) this.#info = change.server;
    if (change.snapshot) {
      this.#arriving ??= new Map();
      for (const agent of change.changed) this.#arriving.set(agent.id, agent);
      if (!change.snapshotComplete) return;
      this.#agents = this.#arriving;
      this.#arriving = undefined;
    } else if (change.changed.length > 0 || change.removed.length > 0) {
      // A new map for each change: what was handed out is a picture and stays one.
      this.#agents = new Map(this.#agents);
      for (const agent of change.changed) this.#agents.set(agent.id, agent);
      for (const id of change.removed) this.#agents.delete(id);
    }
    this.#link = { kind: 'live' };
    this.#attempts = 0;
    this.#onChange();
  }

  #lose(reason: string, retryAtMs: number): void {
    this.#arriving = undefined;
    if (this.#link.kind === 'connecting') this.#link = { kind: 'connecting', reason, retryAtMs };
    else {
      const sinceMs = this.#link.kind === 'lost' ? this.#link.sinceMs : this.#heardMs;
      this.#link = { kind: 'lost', sinceMs, reason, retryAtMs };
    }
    this.#onChange();
  }

  async #askServer(signal: AbortSignal): Promise<ServerInfo> {
    const timeout = AbortSignal.timeout(this.#times.answerTimeoutMs);
    const info = await this.client.server(AbortSignal.any([signal, timeout]));
    this.#heardMs = this.#now();
    return info;
  }

  /** A server that was stopped or cut off says nothing, and its connection stands. */
  #guardSilence(attempt: AbortController): NodeJS.Timeout {
    let asking = false;
    const look = async (): Promise<void> => {
      if (asking || this.#heardOf !== attempt || this.#now() - this.#heardMs < this.#times.silenceMs) return;
      if (this.#link.kind !== 'live') {
        // It said who it is, and nothing of its agents since: what it said goes no further.
        attempt.abort(new Error('the server does not say its agents'));
        return;
      }
      asking = true;
      try {
        this.#info = await this.#askServer(attempt.signal);
        this.#onChange();
      } catch (error) {
        if (!attempt.signal.aborted) {
          const silent = error instanceof Error && error.name === 'TimeoutError';
          attempt.abort(silent ? new Error('the server does not answer') : error);
        }
      }
      asking = false;
    };
    return setInterval(() => void look(), this.#times.intervalMs);
  }
}
