import type { LatencySummary } from '../messages.ts';
import type { RowResult, Side } from '../results.ts';
import { median } from '../summary.ts';
import type { Goal } from './rows.ts';
import type { IsolationSample } from './sample.ts';

/** A row's cells of one contender, condensed. */
export interface IsolationSummary {
  readonly variant: string;
  readonly cells: number;
  readonly stalled: number;
  /** Medians of the cells' figures; none as soon as one cell stalled. */
  readonly latency: LatencySummary | undefined;
  readonly figure: number;
  readonly othersBusy: number;
  /** The largest of all cells. */
  readonly serverPeakRssBytes: number;
  readonly agentPeakRssBytes: number;
}

type Condensable = RowResult<IsolationSample>;

/** Condenses one side of a row; of several variants the one with the least p99. Undefined if it has no cell. */
export function summarizeIsolation(
  results: readonly Condensable[],
  side: Side,
): IsolationSummary | undefined {
  const p99 = ({ latency }: IsolationSummary): number => latency?.p99Us ?? Number.MAX_VALUE;
  const summaries = results.filter((result) => result.side === side).map(condense);
  return summaries.sort((a, b) => p99(a) - p99(b))[0];
}

function condense({ variant, samples }: Condensable): IsolationSummary {
  const measured = samples.filter((sample) => sample.outcome === 'measured');
  const stalled = samples.length - measured.length;
  const of = (key: keyof LatencySummary): number => median(measured.map((sample) => sample[key]));
  return {
    variant,
    cells: samples.length,
    stalled,
    latency: stalled > 0 ? undefined : { p50Us: of('p50Us'), p99Us: of('p99Us'), maxUs: of('maxUs') },
    figure: median(samples.map((sample) => sample.figure)),
    othersBusy: median(samples.map((sample) => sample.othersBusy)),
    serverPeakRssBytes: Math.max(...samples.map((sample) => sample.serverPeakRssBytes)),
    agentPeakRssBytes: Math.max(...samples.map((sample) => sample.agentPeakRssBytes)),
  };
}

/** One p99 as a multiple of another; undefined when either has none. */
export function p99Ratio(
  one: IsolationSummary | undefined,
  other: IsolationSummary | undefined,
): number | undefined {
  if (one?.latency === undefined || other?.latency === undefined) return undefined;
  return one.latency.p99Us / other.latency.p99Us;
}

export type Verdict = 'met' | 'MISSED' | 'not known';

/** Whether our figures of a row reach its goal. A peer that stalled is slower than anything that did not. */
export function judge(
  goal: Goal,
  ours: IsolationSummary,
  alone: IsolationSummary | undefined,
  peer: IsolationSummary | undefined,
): Verdict {
  if (ours.latency === undefined) return 'MISSED';
  switch (goal.kind) {
    case 'to-alone':
      return within(p99Ratio(ours, alone), goal.atMost);
    case 'to-peer':
      return peer !== undefined && peer.stalled > 0 ? 'met' : within(p99Ratio(ours, peer), goal.atMost);
    case 'absolute': {
      const memoryMb = Math.max(ours.serverPeakRssBytes, ours.agentPeakRssBytes) / 1e6;
      const met = ours.latency.p99Us / 1000 < goal.p99Ms && memoryMb <= goal.memoryMb;
      return met ? 'met' : 'MISSED';
    }
  }
}

function within(ratio: number | undefined, atMost: number): Verdict {
  if (ratio === undefined) return 'not known';
  return ratio <= atMost ? 'met' : 'MISSED';
}
