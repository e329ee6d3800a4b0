import type { Sample } from './measure.ts';
import type { Traffic } from './messages.ts';
import type { RowResult, Side } from './results.ts';

/** A row's cells of one contender, condensed: medians, and the spread of the rate. */
export interface Summary {
  readonly variant: string;
  readonly rate: number;
  readonly minRate: number;
  readonly maxRate: number;
  readonly median: Sample;
}

/** The middle value, or the mean of the two middle ones. @throws RangeError for no values */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  if (upper === undefined) throw new RangeError('no values');
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] as number)) / 2;
}

/** Condenses one side of a row; of several variants the one with the best rate. Undefined if nothing was measured. */
export function summarize(results: readonly RowResult[], side: Side): Summary | undefined {
  const summaries = results.filter((result) => result.side === side).map(condense);
  return summaries.sort((a, b) => b.rate - a.rate)[0];
}

function condense({ variant, samples }: RowResult): Summary {
  const rates = samples.map((sample) => sample.rate);
  const keys = Object.keys(samples[0] ?? {}) as (keyof Sample)[];
  const medians = keys.map((key) => [key, median(samples.map((sample) => sample[key]))]);
  return {
    variant,
    rate: median(rates),
    minRate: Math.min(...rates),
    maxRate: Math.max(...rates),
    median: Object.fromEntries(medians) as Sample,
  };
}

/** What a row's rate counts. */
export function unitName(traffic: Traffic): string {
  switch (traffic) {
    case 'down':
    case 'up':
      return 'MB/s';
    case 'echo':
      return 'echoes/s';
    case 'dials':
      return 'dials/s';
  }
}
