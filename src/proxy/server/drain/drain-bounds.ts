import { defaultSightingBounds, type SightingBounds } from './agent-sightings.ts';

/** Time constants and bounds; tests shrink them. */
export interface DrainBounds {
  /** Orders that were placed here. */
  readonly mostOrders: number;
  /** IDs of ended orders that are remembered, and for how long. */
  readonly mostEnded: number;
  readonly keepEndedMs: number;
  /** An order of an agent that is gone for so long ends. */
  readonly goneMs: number;
  /** How often that is looked at. */
  readonly sweepMs: number;
  /** Between two writes to the state directory, and after one that failed. */
  readonly writePauseMs: number;
  readonly writeRetryMs: number;
  /** How long an answer to an operator waits for the state directory. */
  readonly durableMs: number;
  readonly sightings: SightingBounds;
}

export const defaultDrainBounds: DrainBounds = {
  mostOrders: 10_000,
  mostEnded: 10_000,
  keepEndedMs: 86_400_000,
  goneMs: 86_400_000,
  sweepMs: 60_000,
  writePauseMs: 20,
  writeRetryMs: 5_000,
  durableMs: 2_000,
  sightings: defaultSightingBounds,
};
