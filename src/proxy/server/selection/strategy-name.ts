/** The names of `--proxy-strategies`. */
export const STRATEGY_NAMES = ['default', 'destHost', 'defaultRoute'] as const;
export type StrategyName = (typeof STRATEGY_NAMES)[number];
