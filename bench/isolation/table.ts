import { align, figure, percent } from '../align.ts';
import type { LatencySummary } from '../messages.ts';
import type { Results } from '../results.ts';
import type { Goal, IsolationRow } from './rows.ts';
import type { IsolationSample } from './sample.ts';
import { type IsolationSummary, judge, p99Ratio, summarizeIsolation } from './summary.ts';

const HEADS = [
  'row',
  'p50 ms',
  'p99 ms',
  'max ms',
  'p99 to alone',
  'p99 to peer',
  'beside',
  'server MB',
  'agent MB',
  'others busy',
  'goal',
] as const;

const NOTES = `Pairs of figures are ours/peer: medians of the rounds. stalled n/m: in n of m cells a dial was not answered at all.
beside: what ran beside moved so many MB/s (a million bytes each), had so many connects pending, or was done after so
many seconds. MB: the most that the process held in any cell. others busy: share of one core that other programs used.`;

/** The summary as text: one line per row, aligned, with what the columns mean, and every failed cell. */
export function formatIsolation(rows: readonly IsolationRow[], results: Results<IsolationSample>): string {
  const lines = [[...HEADS], ...rows.map((row) => formatRow(row, rows, results))];
  const failures = results.failures.map(({ row, side, reason }) => `FAILED ${row}, ${side}: ${reason}`);
  return [...align(lines), '', NOTES, ...failures].join('\n');
}

function formatRow(
  row: IsolationRow,
  rows: readonly IsolationRow[],
  results: Results<IsolationSample>,
): string[] {
  const aloneRow = rows.find((other) => other.frontend === row.frontend && other.beside === undefined);
  const of = (side: 'ours' | 'peer', which: IsolationRow | undefined): IsolationSummary | undefined =>
    which === undefined ? undefined : summarizeIsolation(results.of(which), side);
  const ours = of('ours', row);
  const peer = of('peer', row);
  const both = (format: (summary: IsolationSummary) => string): string =>
    [ours, peer].map((summary) => (summary === undefined ? '-' : format(summary))).join('/');
  const latency = (key: keyof LatencySummary): string => both((summary) => formatLatency(summary, key));
  const toAlone = [
    [ours, of('ours', aloneRow)],
    [peer, of('peer', aloneRow)],
  ] as const;
  const alone = row.beside === undefined;
  return [
    row.name,
    latency('p50Us'),
    latency('p99Us'),
    latency('maxUs'),
    alone ? '' : toAlone.map(([one, other]) => formatRatio(p99Ratio(one, other))).join('/'),
    formatRatio(p99Ratio(ours, peer)),
    alone ? '' : `${both((summary) => figure(summary.figure))} ${unitOf(row)}`,
    both((summary) => figure(summary.serverPeakRssBytes / 1e6)),
    both((summary) => figure(summary.agentPeakRssBytes / 1e6)),
    both((summary) => percent(summary.othersBusy)),
    row.goal === undefined || ours === undefined
      ? ''
      : `${describeGoal(row.goal)}: ${judge(row.goal, ours, of('ours', aloneRow), peer)}`,
  ];
}

function formatLatency({ latency, stalled, cells }: IsolationSummary, key: keyof LatencySummary): string {
  return latency === undefined ? `stalled ${stalled}/${cells}` : figure(latency[key] / 1000);
}

function formatRatio(ratio: number | undefined): string {
  return ratio === undefined ? '-' : `${ratio.toFixed(2)}x`;
}

function unitOf({ beside }: IsolationRow): string {
  if (beside === 'black-hole') return 'connects';
  return beside === 'downloads' ? 's' : 'MB/s';
}

function describeGoal(goal: Goal): string {
  switch (goal.kind) {
    case 'to-alone':
      return `at most ${goal.atMost}x alone`;
    case 'to-peer':
      return `at most ${goal.atMost}x of the peer`;
    case 'absolute':
      return `p99 < ${goal.p99Ms} ms, at most ${goal.memoryMb} MB`;
  }
}
