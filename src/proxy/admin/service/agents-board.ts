import type { ProxyServer } from '../../server/proxy-server.ts';
import { Encoded, encodeMessage } from '../messages/encode-message.ts';
import { messageTable } from '../messages/table.ts';
import type { Agent, AgentState } from '../model/agent.ts';
import { viewOfAgent, withoutTrifles } from './agent-view.ts';
import { knownAgents } from './known-agents.ts';
import { replacementsOf } from './others-ready.ts';
import type { Sampler } from './sampler.ts';
import { type Moment, now } from './shown-tunnel.ts';

const AGENT = messageTable('Agent');
/** Agents that are gone for an hour are forgotten: looked for so often. */
const SWEEP_MS = 10_000;
/** Watchers look when they like: what changed meanwhile is looked at no more often than this. */
const LOOK_MS = 20;

/** One that is told which agents changed, and asks for them when it can send. */
export interface BoardWatcher {
  changed(agentId: string): void;
}

interface Entry {
  agent: Agent;
  /** Its bytes without what changes all the time: equal ones are no change. */
  stable: Buffer;
  whole: Encoded;
  /** With the rates of a sample. */
  rated: { readonly sample: number; readonly whole: Encoded } | undefined;
}

/**
 * All agents as they were last seen, kept up to date while somebody watches. What changed is built and encoded once
 * for all watchers; a watcher costs a set of IDs.
 */
export class AgentsBoard {
  readonly #server: ProxyServer;
  readonly #entries = new Map<string, Entry>();
  readonly #watchers = new Set<BoardWatcher>();
  readonly #counts: Record<AgentState, number> = { ready: 0, draining: 0, drained: 0, gone: 0 };
  /** When time alone changes an agent. */
  readonly #changesAtMs = new Map<string, number>();
  #revision = 0;
  #sweptAtMs = 0;
  #lookedAtMs = Number.NEGATIVE_INFINITY;

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
      this.#lookedAtMs = at.monoMs;
    } else this.#refresh(now());
    this.#watchers.add(watcher);
    return () => {
      if (!this.#watchers.delete(watcher) || this.#watchers.size > 0) return;
      this.#server.changes.stop();
      this.#entries.clear();
      for (const state of Object.keys(this.#counts) as AgentState[]) this.#counts[state] = 0;
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

  /**
   * The same with its rates, and all else as it was when they were sampled or the agent changed: made once for all
   * watchers.
   */
  rated(agentId: string, sampler: Sampler): Encoded | undefined {
    const entry = this.#entries.get(agentId);
    if (entry === undefined) return undefined;
    const { samples: sample } = sampler;
    if (entry.rated?.sample !== sample) {
      const view = viewOfAgent(this.#server, agentId, now());
      if (view === undefined) return entry.whole;
      const agent: Agent = { ...view.agent, rates: sampler.rates(agentId) };
      entry.rated = { sample, whole: new Encoded(encodeMessage(AGENT, agent)) };
    }
    return entry.rated.whole;
  }

  countByState(): Record<AgentState, number> {
    return { ...this.#counts };
  }

  /** Looks at what changed since the last look, unless that was this instant. */
  refresh(): void {
    const at = now();
    if (at.monoMs - this.#lookedAtMs >= LOOK_MS) this.#refresh(at);
  }

  #refresh(at: Moment): void {
    this.#lookedAtMs = at.monoMs;
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
    const { drain, backends } = this.#server;
    for (const [agentId, { agent }] of this.#entries) {
      const replacements = replacementsOf(backends.registry, agentId);
      // What it is the last for may change while it is the last for something.
      const isSame =
        replacements === agent.replacements &&
        (replacements > 0 || agent.state === 'gone' || sameTexts(drain.lastFor(agentId), agent.lastFor));
      if (!isSame) this.#look(agentId, at);
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
      if (before === undefined) return;
      this.#counts[before.agent.state]--;
      this.#entries.delete(agentId);
      this.#tell(agentId);
      return;
    }
    if (view.changesAtMs !== undefined) this.#changesAtMs.set(agentId, view.changesAtMs);
    const stable = encodeMessage(AGENT, withoutTrifles(view.agent));
    if (before?.stable.equals(stable)) return;
    const whole = new Encoded(encodeMessage(AGENT, view.agent));
    if (before !== undefined) this.#counts[before.agent.state]--;
    this.#counts[view.agent.state]++;
    this.#entries.set(agentId, { agent: view.agent, stable, whole, rated: undefined });
    this.#tell(agentId);
  }

  #tell(agentId: string): void {
    this.#revision++;
    for (const watcher of this.#watchers) watcher.changed(agentId);
  }
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i]);
}
