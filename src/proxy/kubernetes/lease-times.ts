/** Times of a server's Leases; tests shrink them. */
export interface LeaseTimes {
  /** What a Lease says of itself. */
  readonly durationSeconds: number;
  readonly renewMs: number;
  readonly collectMs: number;
  /** Between attempts that fail: from the first, doubling up to the last. */
  readonly retryFirstMs: number;
  readonly retryMostMs: number;
  /** For the end: a renewal that is under way, and the deletion. */
  readonly stopMs: number;
}

/** Upstream's. */
export const defaultLeaseTimes: LeaseTimes = {
  durationSeconds: 30,
  renewMs: 15_000,
  collectMs: 15_000,
  retryFirstMs: 200,
  retryMostMs: 7_000,
  stopMs: 5_000,
};
