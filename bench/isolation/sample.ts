import type { LatencySummary } from '../messages.ts';

interface Common {
  /** Of what ran beside: MB/s moved, connects pending (black hole), or seconds until all was downloaded. */
  readonly figure: number;
  /** Most memory that the process held in its life, which is the cell's. */
  readonly serverPeakRssBytes: number;
  readonly agentPeakRssBytes: number;
  /** Cores that the rest of the machine kept busy meanwhile. */
  readonly othersBusy: number;
}

/** What one cell gave: latencies of the healthy client's dials, or that one of them got no answer at all. */
export type IsolationSample =
  | (Common & LatencySummary & { readonly outcome: 'measured' })
  | (Common & { readonly outcome: 'stalled' });
