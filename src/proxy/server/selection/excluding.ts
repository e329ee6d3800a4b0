import type { Candidates, Pool } from './pool.ts';
import type { PoolMember } from './pool-member.ts';
import type { SelectableStream, StreamState } from './stream-state.ts';
import { Tier } from './tier.ts';

/**
 * One tier of a pool as if some streams were not there, in time of their number alone. Their agent IDs stay, with
 * their next best stream, in the tier of that one.
 */
export function excluding(pool: Pool, tier: Tier, passedOver: readonly SelectableStream[]): Candidates {
  const set = pool.set(tier);
  const gaps: number[] = [];
  const extras: StreamState[] = [];
  const seen = new Set<PoolMember>();
  for (const stream of passedOver) {
    const member = pool.member(stream.agentId);
    if (member === undefined || seen.has(member)) continue;
    seen.add(member);
    // A gap even where its next best is of this tier: that one is then an extra.
    if (member.tier === tier) gaps.push(set.positionOf(member));
    const next = member.bestExcept(passedOver);
    if (next !== undefined && next.markedTier === tier && tier !== Tier.waiting) extras.push(next);
  }
  gaps.sort((a, b) => a - b);
  const kept = set.size - gaps.length;
  return {
    size: kept + extras.length,
    streamAt(position) {
      if (position >= kept) return extras[position - kept] as StreamState;
      let actual = position;
      for (const gap of gaps) if (gap <= actual) actual++;
      return set.streamAt(actual);
    },
  };
}
