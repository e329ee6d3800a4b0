import type { StrategyName } from './strategies.ts';
import type { TierName } from './tier.ts';

/** The stream that a dial takes, and how it came to be. */
export interface Chosen<S> {
  readonly stream: S;
  readonly agentId: string;
  readonly strategy: StrategyName;
  /** The tier of the agent that was chosen, and so the pass that found it. */
  readonly pass: Exclude<TierName, 'waiting'>;
  /** True when no ready agent could be found: the owner logs and counts each such dial. */
  readonly fallback: boolean;
}

/**
 * Why a dial got no stream. `no-agents`: none is connected. `no-match`: none serves that destination under any of
 * the strategies. `waiting`: those that do may not be chosen yet (connected this instant). `excluded`: those that
 * do were tried. `no-retry`: no earlier strategy has a draining match to retry with.
 */
export type NoneReason = 'no-agents' | 'no-match' | 'waiting' | 'excluded' | 'no-retry';

export interface NoneChosen {
  readonly stream: undefined;
  readonly reason: NoneReason;
}

export type Selection<S> = Chosen<S> | NoneChosen;
