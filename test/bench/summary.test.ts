import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Latencies } from '../../bench/load/latencies.ts';
import type { Sample } from '../../bench/measure.ts';
import { Results } from '../../bench/results.ts';
import type { Row } from '../../bench/rows.ts';
import { median, summarize } from '../../bench/summary.ts';
import { formatTable } from '../../bench/table.ts';

const ROW: Row = { name: 'grpc echo x1', traffic: 'echo', frontend: 'grpc', tunnels: 1, linkMs: 0 };

function sample(rate: number): Sample {
  const cpu = {
    serverCpuUs: rate / 10,
    agentCpuUs: 1,
    loadBusy: 0.5,
    destinationBusy: 0.25,
    relayBusy: 0,
    othersBusy: 0,
  };
  const memory = { serverPeakRssBytes: 1e6, agentPeakRssBytes: 2e6 };
  return { rate, ...cpu, ...memory, p50Us: 10, p99Us: 20, maxUs: 30 };
}

test('the median of three rounds is the middle one, whatever order they came in', () => {
  assert.equal(median([30, 10, 20]), 20);
  assert.equal(median([10, 40]), 25);
});

test('of a peer run with several flags the better one counts, with its own spread and CPU', () => {
  const results = new Results();
  for (const rate of [10, 12, 11]) results.add(ROW, { side: 'peer', variant: '' }, sample(rate));
  for (const rate of [22, 20, 21]) results.add(ROW, { side: 'peer', variant: '--v=1' }, sample(rate));
  const best = summarize(results.of(ROW), 'peer');
  assert.deepEqual([best?.variant, best?.minRate, best?.rate, best?.maxRate], ['--v=1', 20, 21, 22]);
  assert.equal(best?.median.serverCpuUs, 2.1);
});

test('the table shows the ratio of the medians, and a failed cell with its reason', () => {
  const results = new Results();
  results.add(ROW, { side: 'ours', variant: '' }, sample(300));
  results.add(ROW, { side: 'peer', variant: '' }, sample(200));
  results.fail(ROW, { side: 'peer', variant: '' }, 'the server ended with 1');
  const table = formatTable([ROW], results);
  assert.match(table, /grpc echo x1 .*300 \[300-300\].*200 \[200-200\] +1\.50x/);
  assert.match(table, /FAILED grpc echo x1, peer: the server ended with 1/);
});

test('a row without a peer has no ratio', () => {
  const results = new Results();
  results.add(ROW, { side: 'ours', variant: '' }, sample(300));
  assert.doesNotMatch(formatTable([ROW], results), /\dx /);
});

test('percentiles are right within the one percent of a bucket', () => {
  const latencies = new Latencies();
  for (let us = 1; us <= 10_000; us++) latencies.add(us);
  for (const [share, expected] of [
    [0.5, 5000],
    [0.99, 9900],
  ] as const) {
    const ratio = latencies.percentile(share) / expected;
    assert.ok(ratio >= 0.999 && ratio <= 1.011, `${ratio}`);
  }
  latencies.clear();
  assert.equal(latencies.percentile(0.99), 0);
});
