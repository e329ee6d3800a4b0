import type { ProxyServer } from '../../server/proxy-server.ts';
import { Encoded, encodeMessage } from '../messages/encode-message.ts';
import { messageTable } from '../messages/table.ts';
import type { Agent, AgentState } from '../model/agent.ts';
import { viewOfAgent, withoutTrifles } from './agent-view.ts';
import { knownAgents } from './known-agents.ts';
import { othersReady } from './others-ready.ts';
import { type Moment, now } from './shown-tunnel.ts';

const AGENT = messageTable('Agent');
/** Agents that are gone for an hour are forgotten: looked for so often. */
const SWEEP_MS = 10_000;

/** One that is told which agents changed, and asks for them when it can send. */
export interface BoardWatcher {
  changed(agentId: string): void;
}

interface Entry {
  agent: Agent;
  /** Its bytes without what changes all the time: equal ones are no change. */
  stable: Buffer;
  whole: Encoded;
}

/**
 * All agents as they were last seen, kept up to date while somebody watches. What changed is built and encoded once
 * for all watchers; a watcher costs a set of IDs.
 */
export class AgentsBoard {
  readonly #server: ProxyServer;
  readonly #entries = new Map<string, Entry>();
  readonly #watchers = new Set<BoardWatcher>();
  /** When time alone changes an agent. */
  readonly #changesAtMs = new Map<string, number>();
  #revision = 0;
  #sweptAtMs = 0;

  constructor(server: ProxyServer) {
    this.#server = server;
  }

  /** Grows with every change. */
  get revision(): number {
    return this.#revision;
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  /** Adds a watcher, for which everything is up to date now. @returns the way out */
  join(watcher: BoardWatcher): () => void {
    if (this.#watchers.size === 0) {
      this.#server.changes.start();
      const at = now();
      for (const agentId of knownAgents(this.#server)) this.#look(agentId, at);
    } else this.refresh();
    this.#watchers.add(watcher);
    return () => {
      if (!this.#watchers.delete(watcher) || this.#watchers.size > 0) return;
      this.#server.changes.stop();
      this.#entries.clear();
      this.#changesAtMs.clear();
    };
  }

  ids(): IterableIterator<string> {
    return this.#entries.keys();
  }

  /** @returns undefined for one that is not known any more */
  encoded(agentId: string): Encoded | undefined {
    return this.#entries.get(agentId)?.whole;
  }

  countByState(): Record<AgentState, number> {
    const counts: Record<AgentState, number> = { ready: 0, draining: 0, drained: 0, gone: 0 };
    for (const { agent } of this.#entries.values()) counts[agent.state]++;
    return counts;
  }

  /** Looks at what changed since the last look. */
  refresh(): void {
    const at = now();
    const { agentIds, readiness } = this.#server.changes.take();
    for (const agentId of agentIds) this.#look(agentId, at);
    for (const [agentId, changesAtMs] of this.#changesAtMs) {
      if (changesAtMs <= at.monoMs) this.#look(agentId, at);
    }
    if (readiness) this.#lookAtReplacements(at);
    if (at.monoMs - this.#sweptAtMs >= SWEEP_MS) this.#sweep(at);
  }

  /** Somebody's readiness concerns the others by who could take over alone. */
  #lookAtReplacements(at: Moment): void {
    const { registry } = this.#server.backends;
    for (const [agentId, { agent }] of this.#entries) {
      if (othersReady(registry, agentId) !== agent.replacements) this.#look(agentId, at);
    }
  }

  #sweep(at: Moment): void {
    this.#sweptAtMs = at.monoMs;
    this.#server.drain.sightings.expire();
    for (const [agentId, { agent }] of this.#entries) if (agent.state === 'gone') this.#look(agentId, at);
  }

  #look(agentId: string, at: Moment): void {
    this.#changesAtMs.delete(agentId);
    const view = viewOfAgent(this.#server, agentId, at);
    const before = this.#entries.get(agentId);
    if (view === undefined) {
      if (this.#entries.delete(agentId)) this.#tell(agentId);
      return;
    }
    if (view.changesAtMs !== undefined) this.#changesAtMs.set(agentId, view.changesAtMs);
    const stable = encodeMessage(AGENT, withoutTrifles(view.agent));
    if (before?.stable.equals(stable)) return;
    const whole = new Encoded(encodeMessage(AGENT, view.agent));
    this.#entries.set(agentId, { agent: view.agent, stable, whole });
    this.#tell(agentId);
  }

  #tell(agentId: string): void {
    this.#revision++;
    for (const watcher of this.#watchers) watcher.changed(agentId);
  }
}
