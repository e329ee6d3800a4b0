import { IndexedSet } from './indexed-set.ts';
import { PoolMember } from './pool-member.ts';
import type { StrategyName } from './strategies.ts';
import type { StreamState } from './stream-state.ts';
import { Tier } from './tier.ts';

/** What a choice is made among: `size` streams, one for each agent ID. */
export interface Candidates {
  readonly size: number;
  streamAt(position: number): StreamState;
}

/** The agent IDs of one tier. */
export class TierSet extends IndexedSet<PoolMember> implements Candidates {
  streamAt(position: number): StreamState {
    return this.at(position).best as StreamState;
  }
}

/**
 * The agent IDs that serve one key of one strategy. Each is in exactly one of the sets: ready, draining, suspect,
 * or waiting (connected, but with no stream that may be chosen yet).
 */
export class Pool {
  readonly strategy: StrategyName;
  /** destHost: the canonical host. Empty for the strategies that have one pool. */
  readonly key: string;
  /** By the number of the tier. */
  readonly sets: readonly TierSet[] = [new TierSet(), new TierSet(), new TierSet(), new TierSet()];
  /** What the owner was last told of this pool; `never` until it had a ready agent. */
  told: 'never' | 'ready' | 'out-of-ready' = 'never';
  readonly #members = new Map<string, PoolMember>();

  constructor(strategy: StrategyName, key: string) {
    this.strategy = strategy;
    this.key = key;
  }

  /** How many agent IDs are here, in whatever tier. */
  get size(): number {
    return this.#members.size;
  }

  count(tier: Tier): number {
    return this.set(tier).size;
  }

  set(tier: Tier): TierSet {
    return this.sets[tier] as TierSet;
  }

  member(agentId: string): PoolMember | undefined {
    return this.#members.get(agentId);
  }

  /** Appends the agent ID's youngest stream. The caller places the member afterwards. */
  join(state: StreamState): PoolMember {
    let member = this.#members.get(state.stream.agentId);
    if (member === undefined) {
      member = new PoolMember(state.stream.agentId, this);
      this.#members.set(member.agentId, member);
      this.set(member.tier).add(member);
    }
    member.streams.push(state);
    return member;
  }

  /** Takes a stream out. The caller places the member afterwards. */
  leave(member: PoolMember, state: StreamState): void {
    member.streams.splice(member.streams.indexOf(state), 1);
  }

  /** Puts the member into the set where its streams belong now. Returns by how much that changed the ready count. */
  place(member: PoolMember): -1 | 0 | 1 {
    const before = member.tier;
    member.assess();
    if (member.streams.length === 0) {
      this.#members.delete(member.agentId);
      this.set(before).delete(member);
      return before === Tier.ready ? -1 : 0;
    }
    if (member.tier === before) return 0;
    this.set(before).delete(member);
    this.set(member.tier).add(member);
    return before === Tier.ready ? -1 : member.tier === Tier.ready ? 1 : 0;
  }
}
