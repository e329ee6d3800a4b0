import { excluding } from './excluding.ts';
import type { Pool } from './pool.ts';
import type { PoolMember } from './pool-member.ts';
import { Chosen, type NoneChosen, type NoneReason, type Pass, type Selection } from './selection.ts';
import type { StreamRegistry } from './stream-registry.ts';
import type { SelectableStream } from './stream-state.ts';
import { TIER_NAMES, Tier } from './tier.ts';
import type { Candidates } from './tier-set.ts';

export interface SelectorOptions<S> {
  /**
   * `last-resort`: a ready agent of any strategy before a draining one. `strategy` (upstream's way): a draining
   * match in an earlier strategy before a ready agent of a later one. Suspect ones come last in both.
   */
  readonly drainingFallback?: 'last-resort' | 'strategy';
  /** `random`, or `least-loaded`: the better of two random picks. */
  readonly backendChoice?: 'random' | 'least-loaded';
  /** For least-loaded: the smaller the better. */
  readonly load?: (stream: S) => number;
  /** From 0 up to, not including, 1. */
  readonly random?: () => number;
}

/** One look of a choice: at one tier of one strategy's pool. */
export interface Step {
  /** Position in the registry's strategies. */
  readonly strategy: number;
  readonly tier: Exclude<Tier, 3>;
}

/** Told of each look, in order; `matches` counts the agent IDs found there. */
export type Trace = (step: Step, matches: number) => void;

/**
 * Chooses the backend of a dial, in constant time whatever drains: each look is at one set, and a set is picked
 * from by position. Like the registry it needs no lock: nothing is awaited between looking and choosing.
 */
export class Selector<S extends SelectableStream = SelectableStream> {
  readonly registry: StreamRegistry<S>;
  /** The looks of a choice, in order. */
  readonly steps: readonly Step[];
  readonly backendChoice: 'random' | 'least-loaded';
  readonly #load: (stream: S) => number;
  readonly #random: () => number;
  /** The pool of the dial in hand for each strategy; null where it was not looked up yet. */
  readonly #pools: (Pool | undefined | null)[];

  constructor(registry: StreamRegistry<S>, options: SelectorOptions<S> = {}) {
    this.registry = registry;
    this.steps = stepsOf(registry.strategies.length, options.drainingFallback ?? 'last-resort');
    this.backendChoice = options.backendChoice ?? 'random';
    this.#load = options.load ?? (() => 0);
    this.#random = options.random ?? Math.random;
    this.#pools = registry.strategies.map(() => null);
  }

  /**
   * Chooses a stream for a dial to `address` (`host:port`).
   * @param exclude streams to act as if they were not there: those that this dial already tried
   */
  select(address: string, exclude?: readonly S[], trace?: Trace): Selection<S> {
    this.registry.advance();
    const pools = this.#pools;
    for (let i = 0; i < pools.length; i++) pools[i] = null;
    for (const step of this.steps) {
      let pool = pools[step.strategy];
      if (pool === null) {
        pool = this.registry.strategies[step.strategy]?.poolFor(address);
        pools[step.strategy] = pool;
      }
      if (pool === undefined) {
        trace?.(step, 0);
        continue;
      }
      const candidates = this.#candidates(pool, step.tier, exclude);
      trace?.(step, candidates.size);
      if (candidates.size > 0) return this.#choose(candidates, pool, step.tier);
    }
    return none(this.#whyNone(address, exclude));
  }

  /**
   * Chooses for the one retry of a dial whose agent answered with an error. Only a ready agent that stood in from
   * a later strategy is doubted: the retry goes to a draining match in the earliest strategy before it.
   */
  selectAfterError(address: string, failed: Chosen<S>): Selection<S> {
    if (failed.pass === 'ready') {
      this.registry.advance();
      for (const strategy of this.registry.strategies) {
        if (strategy.name === failed.strategy) break;
        const pool = strategy.poolFor(address);
        if (pool === undefined) continue;
        const candidates = this.#candidates(pool, Tier.draining, [failed.stream]);
        if (candidates.size > 0) return this.#choose(candidates, pool, Tier.draining);
      }
    }
    return none('no-retry');
  }

  #choose(candidates: Candidates, pool: Pool, tier: Exclude<Tier, 3>): Chosen<S> {
    return new Chosen(this.#pick(candidates), pool.strategy, TIER_NAMES[tier] as Pass);
  }

  #pick(candidates: Candidates): S {
    const size = candidates.size;
    const position = size === 1 ? 0 : Math.floor(this.#random() * size);
    const picked = candidates.streamAt(position) as S;
    if (size === 1 || this.backendChoice === 'random') return picked;
    // The second of the two is never the first once more.
    const next = Math.floor(this.#random() * (size - 1));
    const other = candidates.streamAt(next >= position ? next + 1 : next) as S;
    return this.#load(other) < this.#load(picked) ? other : picked;
  }

  #candidates(pool: Pool, tier: Tier, exclude: readonly S[] | undefined): Candidates {
    if (exclude === undefined || exclude.length === 0) return pool.set(tier);
    return excluding(pool.set(tier), tier, exclude, this.#membersOf(pool, exclude));
  }

  #membersOf(pool: Pool, streams: readonly S[]): Set<PoolMember> {
    const members = new Set<PoolMember>();
    for (const stream of streams) {
      for (const membership of this.registry.stateOf(stream)?.members ?? []) {
        if (membership.pool === pool) members.add(membership.member);
      }
    }
    return members;
  }

  #whyNone(address: string, exclude: readonly S[] | undefined): NoneReason {
    if (this.registry.size === 0) return 'no-agents';
    let waiting = false;
    for (const strategy of this.registry.strategies) {
      const pool = strategy.poolFor(address);
      if (pool === undefined) continue;
      if (exclude !== undefined && this.#membersOf(pool, exclude).size > 0) return 'excluded';
      if (pool.size > 0) waiting = true;
    }
    return waiting ? 'waiting' : 'no-match';
  }
}

function stepsOf(strategies: number, fallback: 'last-resort' | 'strategy'): Step[] {
  const steps: Step[] = [];
  const order = Array.from({ length: strategies }, (_, i) => i);
  if (fallback === 'last-resort') {
    for (const strategy of order) steps.push({ strategy, tier: Tier.ready });
    for (const strategy of order) steps.push({ strategy, tier: Tier.draining });
  } else {
    for (const strategy of order) {
      steps.push({ strategy, tier: Tier.ready }, { strategy, tier: Tier.draining });
    }
  }
  for (const strategy of order) steps.push({ strategy, tier: Tier.suspect });
  return steps;
}

function none(reason: NoneReason): NoneChosen {
  return { stream: undefined, reason };
}
