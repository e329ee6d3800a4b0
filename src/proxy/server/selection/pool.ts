import { PoolMember } from './pool-member.ts';
import type { StrategyName } from './strategies.ts';
import type { StreamState } from './stream-state.ts';
import { Tier } from './tier.ts';
import { TierSet } from './tier-set.ts';

/**
 * The agent IDs that serve one key of one strategy. Each is in exactly one of the sets: ready, draining, suspect,
 * or waiting (connected, but with no stream that may be chosen yet).
 */
export class Pool {
  readonly strategy: StrategyName;
  /** destHost: the canonical host. Empty for the strategies that have one pool. */
  readonly key: string;
  readonly ready = new TierSet();
  readonly draining = new TierSet();
  readonly suspect = new TierSet();
  readonly waiting = new TierSet();
  /** What the owner was last told of this pool; `never` until it had a ready agent. */
  told: 'never' | 'ready' | 'out-of-ready' = 'never';

  constructor(strategy: StrategyName, key: string) {
    this.strategy = strategy;
    this.key = key;
  }

  /** How many agent IDs are here, in whatever tier. */
  get size(): number {
    return this.ready.size + this.draining.size + this.suspect.size + this.waiting.size;
  }

  set(tier: Tier): TierSet {
    switch (tier) {
      case Tier.ready:
        return this.ready;
      case Tier.draining:
        return this.draining;
      case Tier.suspect:
        return this.suspect;
      case Tier.waiting:
        return this.waiting;
    }
  }

  /**
   * Appends the youngest stream of an agent ID.
   * @param siblings the ID's other streams, among which its member is found if it has one here
   * @returns the member, which the caller places
   */
  join(state: StreamState, siblings: readonly StreamState[]): PoolMember {
    const member = this.#memberAmong(siblings) ?? new PoolMember(state.stream.agentId, this);
    if (member.streams.length === 0) this.waiting.add(member);
    member.streams.push(state);
    return member;
  }

  /** Takes a stream out of a member, which the caller places. */
  leave(member: PoolMember, state: StreamState): void {
    member.streams.splice(member.streams.indexOf(state), 1);
  }

  /** Puts the member into the set where its streams belong now. Returns by how much that changed the ready count. */
  place(member: PoolMember): -1 | 0 | 1 {
    const before = member.tier;
    member.assess();
    if (member.streams.length > 0 && member.tier === before) {
      this.set(before).update(member);
      return 0;
    }
    this.set(before).delete(member);
    if (member.streams.length > 0) this.set(member.tier).add(member);
    if (before === Tier.ready) return -1;
    return member.tier === Tier.ready ? 1 : 0;
  }

  #memberAmong(siblings: readonly StreamState[]): PoolMember | undefined {
    for (const state of siblings) {
      for (const member of state.members) if (member.pool === this) return member;
    }
    return undefined;
  }
}
