/**
 * How readily a stream, and by its best stream an agent ID, is given dials: the smaller the better. A waiting one
 * is given none yet.
 */
export const Tier = { ready: 0, draining: 1, suspect: 2, waiting: 3 } as const;
export type Tier = (typeof Tier)[keyof typeof Tier];
export type TierName = keyof typeof Tier;

/** The tiers by their number. */
export const TIER_NAMES: readonly TierName[] = ['ready', 'draining', 'suspect', 'waiting'];
