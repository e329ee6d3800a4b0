import type { Sample } from './measure.ts';
import type { Results, Side } from './results.ts';
import type { Row } from './rows.ts';
import { type Summary, summarize } from './summary.ts';

/** What a row is to reach, as a ratio of ours to another side of the same run. */
export interface Target {
  /** Rows whose whole name matches. */
  readonly rows: RegExp;
  readonly measure: 'rate' | 'p99' | 'CPU';
  readonly against: Side;
  readonly atLeast?: number;
  readonly atMost?: number;
  /** What would be better still: missing it is no miss. */
  readonly stretch?: boolean;
}

/** A target that a run could check. */
export interface Verdict {
  readonly row: string;
  readonly target: string;
  readonly reached: string;
  readonly verdict: 'met' | 'MISSED' | 'stretch missed';
}

/** The least accepted against the Go pair, and against a plain chain of relays. */
export const TARGETS: readonly Target[] = [
  { rows: /connect bulk down x[18]/, measure: 'rate', against: 'peer', atLeast: 2.5 },
  { rows: /connect bulk up x[18]/, measure: 'rate', against: 'peer', atLeast: 1.8 },
  { rows: /grpc bulk down x\d+/, measure: 'rate', against: 'peer', atLeast: 1.8 },
  { rows: /grpc bulk up x\d+/, measure: 'rate', against: 'peer', atLeast: 1.3 },
  { rows: /\w+ echo x1/, measure: 'rate', against: 'peer', atLeast: 1.4 },
  { rows: /connect echo x64/, measure: 'rate', against: 'peer', atLeast: 1.2 },
  { rows: /grpc echo x64/, measure: 'rate', against: 'peer', atLeast: 1.5 },
  { rows: /\w+ echo x512/, measure: 'rate', against: 'peer', atLeast: 1.2 },
  { rows: /\w+ echo x\d+/, measure: 'p99', against: 'peer', atMost: 1 },
  { rows: /connect dials x16/, measure: 'rate', against: 'peer', atLeast: 1.1 },
  { rows: /grpc dials x16/, measure: 'rate', against: 'peer', atLeast: 1 },
  { rows: /(connect|grpc) dials x16/, measure: 'CPU', against: 'peer', atMost: 1, stretch: true },
  { rows: /connect bulk \w+ x1, \d+ ms each way/, measure: 'rate', against: 'peer', atLeast: 1.25 },
  { rows: /connect bulk \w+ x1/, measure: 'rate', against: 'chain', atLeast: 0.6 },
  { rows: /connect bulk \w+ x64/, measure: 'rate', against: 'chain', atLeast: 0.7 },
];

/** Checks what the run gives figures for; a target without them is left out. */
export function check(targets: readonly Target[], rows: readonly Row[], results: Results): Verdict[] {
  return targets.flatMap((target) =>
    rows
      .filter(({ name }) => new RegExp(`^(?:${target.rows.source})$`).test(name))
      .flatMap((row) => judge(target, row, results)),
  );
}

function judge(target: Target, row: Row, results: Results): Verdict[] {
  const ours = summarize(results.of(row), 'ours');
  const other = summarize(results.of(row), target.against);
  if (ours === undefined || other === undefined) return [];
  const ratio = valueIn(target, ours) / valueIn(target, other);
  const { atLeast = 0, atMost = Number.POSITIVE_INFINITY } = target;
  const met = ratio >= atLeast && ratio <= atMost;
  const bound = target.atLeast === undefined ? `at most ${atMost}x` : `at least ${atLeast}x`;
  return [
    {
      row: row.name,
      target: `${target.measure} ${bound} of ${target.against}${target.stretch ? ' (stretch)' : ''}`,
      reached: `${ratio.toFixed(2)}x`,
      verdict: met ? 'met' : target.stretch ? 'stretch missed' : 'MISSED',
    },
  ];
}

function valueIn({ measure }: Target, { rate, median }: Summary): number {
  switch (measure) {
    case 'rate':
      return rate;
    case 'p99':
      return median.p99Us;
    case 'CPU':
      return cpuOf(median);
  }
}

/** What one unit costs, server and agent together, in microseconds of CPU. */
export function cpuOf({ serverCpuUs, agentCpuUs }: Sample): number {
  return serverCpuUs + agentCpuUs;
}
