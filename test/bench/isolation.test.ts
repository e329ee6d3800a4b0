import assert from 'node:assert/strict';
import { test } from 'node:test';
import { downloadVerdicts } from '../../bench/isolation/download-verdicts.ts';
import { type IsolationRow, isolationRows } from '../../bench/isolation/rows.ts';
import type { IsolationSample } from '../../bench/isolation/sample.ts';
import { judge, summarizeIsolation } from '../../bench/isolation/summary.ts';
import { formatIsolation } from '../../bench/isolation/table.ts';
import { Latencies } from '../../bench/load/latencies.ts';
import { matchesPattern, patternView } from '../../bench/pattern.ts';
import { Results } from '../../bench/results.ts';

const OURS = { side: 'ours', variant: '' } as const;
const PEER = { side: 'peer', variant: '' } as const;
const COMMON = { figure: 0, serverPeakRssBytes: 90e6, agentPeakRssBytes: 80e6, othersBusy: 0.1 };
const STALLED: IsolationSample = { outcome: 'stalled', ...COMMON };

function sample(p99Ms: number, more: Partial<typeof COMMON> = {}): IsolationSample {
  const latencies = { p50Us: p99Ms * 500, p99Us: p99Ms * 1000, maxUs: p99Ms * 2000 };
  return { outcome: 'measured', ...COMMON, ...more, ...latencies };
}

function summaryOf(...samples: IsolationSample[]): NonNullable<ReturnType<typeof summarizeIsolation>> {
  return summarizeIsolation([{ ...OURS, samples }], 'ours') ?? assert.fail('no summary');
}

function rows(match = ''): IsolationRow[] {
  return isolationRows('isolation', { frontends: ['connect'], tunnels: undefined, match });
}

test('the isolation rows begin with the dials alone, and name what runs beside the others', () => {
  assert.deepEqual(
    rows().map((row) => row.name),
    [
      'connect alone',
      'connect beside 1 stalled frontend',
      'connect beside 1 stalled destination',
      'connect beside 500 black-hole dials',
      'connect beside 8 copies down',
      'connect beside 8 copies up',
    ],
  );
});

test('another number of tunnels is that of what runs beside, and alone stays one row', () => {
  const names = isolationRows('isolation', { frontends: ['grpc'], tunnels: [2, 4], match: '' });
  assert.equal(names.filter((row) => row.beside === undefined).length, 1);
  assert.deepEqual(
    names.filter((row) => row.beside === 'up').map((row) => row.tunnels),
    [2, 4],
  );
});

test('a choice of rows keeps the dials alone, with which they are compared', () => {
  assert.deepEqual(
    rows('copies up').map((row) => row.name),
    ['connect alone', 'connect beside 8 copies up'],
  );
});

test('a row counts the median of its latencies and the largest of its memory', () => {
  const summary = summaryOf(sample(30), sample(10, { agentPeakRssBytes: 200e6 }), sample(20));
  assert.equal(summary.latency?.p99Us, 20_000);
  assert.equal(summary.agentPeakRssBytes, 200e6);
});

test('one stalled cell leaves the row without latencies, however fast the others were', () => {
  const summary = summaryOf(sample(1), STALLED, sample(1));
  assert.equal(summary.latency, undefined);
  assert.deepEqual([summary.stalled, summary.cells], [1, 3]);
});

test('of the flags of a peer those count that stalled least', () => {
  const results = [
    { ...PEER, variant: 'stalls', samples: [STALLED] },
    { ...PEER, variant: 'slow', samples: [sample(50)] },
    { ...PEER, variant: 'fast', samples: [sample(5)] },
  ];
  assert.equal(summarizeIsolation(results, 'peer')?.variant, 'fast');
});

test('a goal to alone is judged by p99, and missed by a stall', () => {
  const goal = { kind: 'to-alone', atMost: 2 } as const;
  const alone = summaryOf(sample(10));
  assert.equal(judge(goal, summaryOf(sample(20)), alone, undefined), 'met');
  assert.equal(judge(goal, summaryOf(sample(21)), alone, undefined), 'MISSED');
  assert.equal(judge(goal, summaryOf(STALLED), alone, undefined), 'MISSED');
  assert.equal(judge(goal, summaryOf(sample(20)), undefined, undefined), 'not known');
});

test('a goal to the peer is met beside a peer that stalled, and not known without one', () => {
  const goal = { kind: 'to-peer', atMost: 0.3 } as const;
  const ours = summaryOf(sample(4));
  assert.equal(judge(goal, ours, undefined, summaryOf(sample(10))), 'MISSED');
  assert.equal(judge(goal, ours, undefined, summaryOf(sample(20))), 'met');
  assert.equal(judge(goal, ours, undefined, summaryOf(STALLED)), 'met');
  assert.equal(judge(goal, ours, undefined, undefined), 'not known');
});

test('an absolute goal is missed by the latency or by the memory of either process', () => {
  const goal = { kind: 'absolute', p99Ms: 500, memoryMb: 250 } as const;
  const judged = (one: IsolationSample): string => judge(goal, summaryOf(one), undefined, undefined);
  assert.equal(judged(sample(499)), 'met');
  assert.equal(judged(sample(500)), 'MISSED');
  assert.equal(judged(sample(1, { agentPeakRssBytes: 251e6 })), 'MISSED');
  assert.equal(judged(sample(1, { serverPeakRssBytes: 251e6 })), 'MISSED');
});

test('the table shows ratios to alone and to the peer, a stall in place of figures, and failed cells', () => {
  const shown = rows().slice(0, 2);
  const [alone, stalled] = shown as [IsolationRow, IsolationRow];
  const results = new Results<IsolationSample>();
  results.add(alone, OURS, sample(10));
  results.add(alone, PEER, sample(5));
  results.add(stalled, OURS, sample(15));
  results.add(stalled, PEER, STALLED);
  results.fail(stalled, PEER, 'the agent ended with 1');
  const table = formatIsolation(shown, results);
  assert.match(table, /^connect alone .*10\.0\/5\.00.* 2\.00x/m);
  assert.match(table, /15\.0\/stalled 1\/1 .*1\.50x\/- .*at most 2x alone: met$/m);
  assert.match(table, /^FAILED connect beside 1 stalled frontend, peer: the agent ended with 1$/m);
});

test('the largest latency is exact, and forgotten with the others', () => {
  const latencies = new Latencies();
  latencies.add(12_345);
  latencies.add(3);
  assert.equal(latencies.summary().maxUs, 12_345);
  latencies.clear();
  assert.equal(latencies.summary().maxUs, 0);
});

test('a pattern is found whole across its seam, and neither elsewhere nor in another stream', () => {
  const bytes = Buffer.alloc(3_000_000);
  for (let at = 0; at < bytes.length; ) at += patternView(7, at, bytes.length - at).copy(bytes, at);
  assert.equal(matchesPattern(7, 0, bytes), true);
  assert.equal(matchesPattern(7, 1_000_000, bytes.subarray(1_000_000)), true);
  assert.equal(matchesPattern(7, 1, bytes), false);
  assert.equal(matchesPattern(8, 0, bytes), false);
  bytes[2_999_999] = ~(bytes[2_999_999] as number);
  assert.equal(matchesPattern(7, 0, bytes), false);
});

test('downloads are to be done in time and in memory, each judged for itself', () => {
  const [row] = isolationRows('downloads', { frontends: ['connect'], tunnels: undefined, match: '' });
  assert.ok(row);
  const results = new Results<IsolationSample>();
  results.add(row, OURS, sample(1, { figure: 10, agentPeakRssBytes: 251e6 }));
  results.add(row, PEER, sample(1, { figure: 12 }));
  assert.deepEqual(
    downloadVerdicts([row], results).map(({ verdict }) => verdict),
    ['met', 'MISSED'],
  );
});
