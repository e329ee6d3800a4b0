import { PoolMember } from './pool-member.ts';
import type { StrategyName } from './strategy-name.ts';
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

  /** Adds an agent ID with its first stream here. The caller places the member afterwards. */
  admit(first: StreamState): PoolMember {
    const member = new PoolMember(first);
    this.waiting.add(member);
    return member;
  }

  /**
   * Puts a member into the set where its streams belong now, or nowhere when it has none left.
   * @returns by how much that changed the number of ready ones
   */
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
}
