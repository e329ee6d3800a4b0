import type { Target } from '../targets.ts';

/**
 * Ratios to the baselines of the same run below which a release is not made. Recorded well below what is usual (see
 * bench/README.md), so that a busy neighbour breaks none of them; raise them when the product becomes faster.
 */
export const FLOORS: readonly Target[] = [
  { rows: /connect bulk down x1/, measure: 'rate', against: 'naive', atLeast: 1 },
];
