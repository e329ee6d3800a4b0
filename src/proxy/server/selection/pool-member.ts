import type { SelectableStream, StreamState } from './stream-state.ts';
import { Tier } from './tier.ts';

const NOBODY: readonly SelectableStream[] = [];

/**
 * One agent ID in one pool: its streams that belong there, and which of them a dial takes. Streams of one ID may
 * carry different identifiers, so this is kept for each pool and not for the ID.
 */
export class PoolMember {
  readonly agentId: string;
  /** Oldest first. */
  readonly streams: StreamState[];
  /** The tier of `best`; waiting while no stream may be chosen. */
  tier: Tier = Tier.waiting;
  /** Where it is in the pool's set of its tier. */
  position = 0;
  /** The stream that the next dial of this agent takes. */
  best: StreamState | undefined;

  constructor(first: StreamState) {
    this.agentId = first.stream.agentId;
    this.streams = [first];
  }

  /** Works out tier and best again after a stream came, went or changed. */
  assess(): void {
    this.best = this.bestExcept(NOBODY);
    this.tier = this.best?.markedTier ?? Tier.waiting;
  }

  /**
   * The oldest stream of the best tier among those that may be chosen. Oldest, because an agent that finds itself
   * with two streams to one server closes the younger.
   */
  bestExcept(passedOver: readonly SelectableStream[]): StreamState | undefined {
    let best: StreamState | undefined;
    // A stream without an instance may be the one its agent is about to close, so it waits beside a usable older
    // one. Older ones that are suspect, or wait themselves, hold nothing up: else nobody could be chosen.
    let olderUsable = false;
    for (const state of this.streams) {
      if (!mayBeChosen(state, olderUsable)) continue;
      if (!state.suspect) olderUsable = true;
      if (passedOver.includes(state.stream)) continue;
      if (best === undefined || state.markedTier < best.markedTier) best = state;
    }
    return best;
  }
}

function mayBeChosen(state: StreamState, olderUsable: boolean): boolean {
  if (state.stream.announces) return state.announced;
  return state.settled || !olderUsable;
}
