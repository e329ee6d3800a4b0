import type { Pool } from './pool.ts';
import type { PoolMember } from './pool-member.ts';
import { type StrategyName, StrategyPools } from './strategies.ts';
import { type Membership, StreamEntry } from './stream-entry.ts';
import type { SelectableStream } from './stream-state.ts';

/** Told once per transition, after the change that caused it is complete. */
export interface ReadinessEvents {
  /** The pool's last ready agent drains, turned suspect or is gone; the pool's counts say who is left. */
  onPoolOutOfReady?(pool: Pool): void;
  /** A pool that was told to be out of ready agents has one. */
  onPoolReadyAgain?(pool: Pool): void;
  /** No pool of any strategy has a ready agent any more. */
  onAllOutOfReady?(): void;
  onAllReadyAgain?(): void;
}

export interface StreamRegistryOptions {
  /** In the order of `--proxy-strategies`, each once. */
  readonly strategies: readonly StrategyName[];
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
  /** How long a stream without an instance waits beside a usable older one of its ID; 5 s unless told. */
  readonly secondStreamWaitMs?: number;
  readonly events?: ReadinessEvents;
}

const NOBODY: StreamEntry[] = [];

/**
 * The live streams of all agents with their marks, sorted into pools.
 *
 * There is no lock, and none is needed: every method runs to its end without an await, and JavaScript runs one
 * thing at a time, so no choice can see a mark that is only half applied, and none can fall between a stream's
 * registration and its first mark as long as the owner does both in one synchronous step. For the same reason a
 * choice and what the owner does with it (entering the dial under its backend) belong into one step.
 */
export class StreamRegistry<S extends SelectableStream = SelectableStream> {
  readonly strategies: readonly StrategyPools[];
  readonly #now: () => number;
  readonly #secondStreamWaitMs: number;
  readonly #events: ReadinessEvents;
  readonly #states = new Map<S, StreamEntry>();
  /** The streams of each agent ID, oldest first. */
  readonly #agents = new Map<string, StreamEntry[]>();
  /** Streams that wait beside an older one, in the order in which their waits end. */
  readonly #settling = new Set<StreamEntry>();
  #nextChangeAtMs = Number.POSITIVE_INFINITY;
  /** Ready agent IDs summed over all pools. */
  #ready = 0;
  #toldAll: Pool['told'] = 'never';
  /** Pools whose ready count or membership changed and of which nothing was told yet. */
  #changed: Pool[] = [];

  constructor(options: StreamRegistryOptions) {
    this.strategies = [...new Set(options.strategies)].map((name) => new StrategyPools(name));
    this.#now = options.now;
    this.#secondStreamWaitMs = options.secondStreamWaitMs ?? 5000;
    this.#events = options.events ?? {};
  }

  /** How many streams are registered. */
  get size(): number {
    return this.#states.size;
  }

  /** True while some pool has a ready agent. */
  get anyReady(): boolean {
    return this.#ready > 0;
  }

  /** When, on the injected clock, advance() has something to do; undefined when time alone changes nothing. */
  get nextChangeAtMs(): number | undefined {
    return this.#nextChangeAtMs === Number.POSITIVE_INFINITY ? undefined : this.#nextChangeAtMs;
  }

  /** The live streams of an agent ID, oldest first. */
  streamsOf(agentId: string): S[] {
    return (this.#agents.get(agentId) ?? []).map((state) => state.stream as S);
  }

  /** The marks of a stream; undefined when it is not registered. */
  stateOf(stream: S): Readonly<StreamEntry> | undefined {
    return this.#states.get(stream);
  }

  /**
   * Adds a stream, marked draining from the start where the owner knows that already, or where an older stream of
   * the same instance is. One of our agents' is chosen only after markChoosable.
   * @throws Error when it is registered already
   */
  register(stream: S, marks: { readonly draining?: boolean } = {}): void {
    if (this.#states.has(stream)) throw new Error(`a stream of agent ${stream.agentId} is registered twice`);
    const state = new StreamEntry(stream, this.#now());
    const siblings = this.#agents.get(stream.agentId) ?? NOBODY;
    state.draining =
      marks.draining === true || siblings.some((older) => older.draining && sameRun(older, state));
    let beside = false;
    for (const strategy of this.strategies) {
      for (const pool of strategy.poolsOf(stream.identifiers)) {
        const older = memberAmong(siblings, pool);
        if (older !== undefined) {
          older.streams.push(state);
          beside = true;
        }
        state.members.push({ pool, member: older ?? pool.admit(state) });
      }
    }
    if (siblings === NOBODY) this.#agents.set(stream.agentId, [state]);
    else siblings.push(state);
    this.#states.set(stream, state);
    if (stream.instance === undefined && beside) {
      this.#settling.add(state);
      this.#schedule();
    } else {
      state.settled = true;
    }
    this.#placeAll(state);
    this.#tell();
  }

  /** Forgets a stream that ended. Does nothing when it is not registered. */
  remove(stream: S): void {
    const state = this.#states.get(stream);
    if (state === undefined) return;
    this.#states.delete(stream);
    const siblings = this.#agents.get(stream.agentId) as StreamEntry[];
    siblings.splice(siblings.indexOf(state), 1);
    if (siblings.length === 0) this.#agents.delete(stream.agentId);
    if (this.#settling.delete(state)) this.#schedule();
    for (const { member } of state.members) member.streams.splice(member.streams.indexOf(state), 1);
    this.#placeAll(state);
    this.#tell();
  }

  /** Marks this stream, and younger ones of the same instance: a process that leaves does so on all of them. */
  markDraining(stream: S): void {
    const state = this.#states.get(stream);
    if (state === undefined) return;
    const siblings = this.#agents.get(stream.agentId) as StreamEntry[];
    const marked: StreamEntry[] = [];
    for (let i = siblings.indexOf(state); i < siblings.length; i++) {
      const other = siblings[i] as StreamEntry;
      if (!other.draining && (other === state || sameRun(state, other))) {
        other.draining = true;
        marked.push(other);
      }
    }
    for (const one of marked) this.#placeAll(one);
    this.#tell();
  }

  /** Takes the mark from this one stream. */
  clearDraining(stream: S): void {
    const state = this.#states.get(stream);
    if (state === undefined || !state.draining) return;
    state.draining = false;
    this.#placeAll(state);
    this.#tell();
  }

  /** Marks a stream that owes an answer, or takes the mark from it. */
  markSuspect(stream: S, suspect: boolean): void {
    const state = this.#states.get(stream);
    if (state === undefined || state.suspect === suspect) return;
    state.suspect = suspect;
    this.#placeAll(state);
    this.#tell();
  }

  /** The first STATUS of our agent's stream arrived; mark it draining before where the STATUS says so. */
  markChoosable(stream: S): void {
    const state = this.#states.get(stream);
    if (state === undefined || state.announced) return;
    state.announced = true;
    this.#placeAll(state);
    this.#tell();
  }

  /** Applies what time has changed. Every choice does this first, so a late timer of the owner harms nothing. */
  advance(): void {
    if (this.#nextChangeAtMs === Number.POSITIVE_INFINITY) return;
    const now = this.#now();
    if (now < this.#nextChangeAtMs) return;
    for (const state of this.#settling) {
      if (state.registeredAtMs + this.#secondStreamWaitMs > now) break;
      this.#settling.delete(state);
      state.settled = true;
      this.#placeAll(state);
    }
    this.#schedule();
    this.#tell();
  }

  #schedule(): void {
    this.#nextChangeAtMs = Number.POSITIVE_INFINITY;
    for (const first of this.#settling) {
      this.#nextChangeAtMs = first.registeredAtMs + this.#secondStreamWaitMs;
      break;
    }
  }

  #placeAll(state: StreamEntry): void {
    for (const membership of state.members) this.#place(membership);
  }

  #place({ pool, member }: Membership): void {
    const change = pool.place(member);
    this.#ready += change;
    if (change !== 0 || pool.size === 0) this.#changed.push(pool);
  }

  /** Tells what changed and forgets empty pools. Last in every method: an owner may call back from its handler. */
  #tell(): void {
    if (this.#changed.length === 0) return;
    const changed = this.#changed;
    this.#changed = [];
    for (const pool of changed) {
      const before = pool.told;
      const after = turned(before, pool.ready.size > 0);
      pool.told = after;
      this.strategies.find((strategy) => strategy.name === pool.strategy)?.drop(pool);
      if (before === 'ready' && after === 'out-of-ready') this.#events.onPoolOutOfReady?.(pool);
      if (before === 'out-of-ready' && after === 'ready') this.#events.onPoolReadyAgain?.(pool);
    }
    const before = this.#toldAll;
    this.#toldAll = turned(before, this.#ready > 0);
    if (before === 'ready' && this.#toldAll === 'out-of-ready') this.#events.onAllOutOfReady?.();
    if (before === 'out-of-ready' && this.#toldAll === 'ready') this.#events.onAllReadyAgain?.();
  }
}

function turned(told: Pool['told'], ready: boolean): Pool['told'] {
  return ready ? 'ready' : told === 'never' ? 'never' : 'out-of-ready';
}

function sameRun(a: StreamEntry, b: StreamEntry): boolean {
  return a.stream.instance !== undefined && a.stream.instance === b.stream.instance;
}

function memberAmong(siblings: readonly StreamEntry[], pool: Pool): PoolMember | undefined {
  for (const sibling of siblings) {
    for (const membership of sibling.members) if (membership.pool === pool) return membership.member;
  }
  return undefined;
}
