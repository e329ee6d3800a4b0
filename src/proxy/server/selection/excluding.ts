import type { PoolMember } from './pool-member.ts';
import type { SelectableStream } from './stream-state.ts';
import type { Tier } from './tier.ts';
import type { Candidates, TierSet } from './tier-set.ts';

/**
 * One tier of a pool as if some streams were not there. The agents they belong to stay, with their next best
 * stream, in the tier of that one.
 * @param touched the members of this pool that have one of those streams; the work grows with their number alone
 */
export function excluding(
  set: TierSet,
  tier: Tier,
  passedOver: readonly SelectableStream[],
  touched: ReadonlySet<PoolMember>,
): Candidates {
  const gaps: number[] = [];
  const extras: SelectableStream[] = [];
  for (const member of touched) {
    // A gap even where its next best is of this tier: that one is then an extra.
    if (member.tier === tier) gaps.push(member.position);
    const next = member.bestExcept(passedOver);
    if (next !== undefined && next.markedTier === tier) extras.push(next.stream);
  }
  gaps.sort((a, b) => a - b);
  const kept = set.size - gaps.length;
  return {
    size: kept + extras.length,
    streamAt(position) {
      if (position >= kept) return extras[position - kept] as SelectableStream;
      let actual = position;
      for (const gap of gaps) if (gap <= actual) actual++;
      return set.streamAt(actual);
    },
  };
}
