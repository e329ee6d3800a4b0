import type { Target } from '../targets.ts';

const rate = (rows: RegExp, naive: number, chain?: number): Target[] => [
  { rows, measure: 'rate', against: 'naive', atLeast: naive },
  ...(chain === undefined ? [] : [{ rows, measure: 'rate', against: 'chain', atLeast: chain } as const]),
];

/**
 * Ratios to the baselines of the same run, against naive and chain, below which a release is not made: about half of the
 * least of two quiet runs of November 2026, because machines differ; raise them when the product becomes faster.
 */
export const FLOORS: readonly Target[] = [
  ...rate(/connect bulk down x1/, 1.7, 0.55),
  ...rate(/connect bulk down x8/, 1.6, 0.5),
  ...rate(/connect bulk up x1/, 1.6, 0.48),
  ...rate(/connect bulk up x8/, 1.6, 0.5),
  // One message at a time is all latency, which a chain of pipes has less of.
  ...rate(/connect echo x1/, 0.6),
  ...rate(/connect echo x64/, 1.1, 1.0),
  // A chain makes a TLS handshake for each dial: no measure of ours.
  ...rate(/connect dials x16/, 0.5),
];
