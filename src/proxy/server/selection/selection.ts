import type { StrategyName } from './strategy-name.ts';
import type { SelectableStream } from './stream-state.ts';
import type { TierName } from './tier.ts';

export type Pass = Exclude<TierName, 'waiting'>;

/** The stream that a dial takes, and how it came to be. */
export class Chosen<S extends SelectableStream> {
  readonly stream: S;
  readonly strategy: StrategyName;
  /** The tier of the agent that was chosen, and so the pass that found it. */
  readonly pass: Pass;

  constructor(stream: S, strategy: StrategyName, pass: Pass) {
    this.stream = stream;
    this.strategy = strategy;
    this.pass = pass;
  }

  // Not copied: reading it is the one thing of a choice that would touch the stream, a cache miss in a large fleet.
  get agentId(): string {
    return this.stream.agentId;
  }

  /** True when no ready agent could be found: the owner logs and counts each such dial. */
  get fallback(): boolean {
    return this.pass !== 'ready';
  }
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

export type Selection<S extends SelectableStream> = Chosen<S> | NoneChosen;
