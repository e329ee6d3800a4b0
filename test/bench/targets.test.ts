import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flowVerdicts } from '../../bench/flow/verdicts.ts';
import { FLOORS } from '../../bench/guard/floors.ts';
import type { Sample } from '../../bench/measure.ts';
import { memoryVerdicts, perTunnel } from '../../bench/memory/verdicts.ts';
import { Results, type Side } from '../../bench/results.ts';
import { type Row, rowsOf } from '../../bench/rows.ts';
import { check, TARGETS } from '../../bench/targets.ts';

const ALL = {
  frontends: ['connect', 'grpc', 'grpc-shared', 'connect-mtls'],
  tunnels: undefined,
  match: '',
} as const;

function sample(rate: number, more: Partial<Sample> = {}): Sample {
  const busy = { loadBusy: 0.5, destinationBusy: 0.25, relayBusy: 0, othersBusy: 0 };
  const memory = { serverPeakRssBytes: 1e6, agentPeakRssBytes: 2e6 };
  const cpu = { serverCpuUs: 10, agentCpuUs: 10 };
  return { rate, ...cpu, ...memory, ...busy, p50Us: 10, p99Us: 20, maxUs: 30, ...more };
}

function row(bench: string, name: string): Row {
  return rowsOf(bench, ALL).find((known) => known.name === name) ?? assert.fail(`no row ${name}`);
}

function add(results: Results, which: Row, side: Side, ...samples: Sample[]): void {
  for (const each of samples) results.add(which, { side, variant: '' }, each);
}

test('a ratio below the target is missed, and one at it is met', () => {
  const which = row('bulk', 'connect bulk down x8');
  for (const [rate, verdict] of [
    [249, 'MISSED'],
    [250, 'met'],
  ] as const) {
    const results = new Results();
    add(results, which, 'ours', sample(rate));
    add(results, which, 'peer', sample(100));
    assert.deepEqual(
      check(TARGETS, [which], results).map((one) => one.verdict),
      [verdict],
    );
  }
});

test('a p99 above that of the peer is missed, whatever the rate', () => {
  const which = row('echo', 'grpc echo x512');
  const results = new Results();
  add(results, which, 'ours', sample(300, { p99Us: 21 }));
  add(results, which, 'peer', sample(100));
  assert.deepEqual(
    check(TARGETS, [which], results).map(({ target, verdict }) => [target.slice(0, 3), verdict]),
    [
      ['rat', 'met'],
      ['p99', 'MISSED'],
    ],
  );
});

test('a stretch that is missed is no miss', () => {
  const which = row('dials', 'grpc dials x16');
  const results = new Results();
  add(results, which, 'ours', sample(100, { serverCpuUs: 30 }));
  add(results, which, 'peer', sample(100));
  assert.deepEqual(
    check(TARGETS, [which], results).map(({ verdict }) => verdict),
    ['met', 'stretch missed'],
  );
});

test('every target and every floor is one of a row that its bench runs', () => {
  const names = ['tunnel', 'link', 'chain'].flatMap((bench) => rowsOf(bench, ALL).map(({ name }) => name));
  const guarded = rowsOf('guard', ALL).map(({ name }) => name);
  const whole = (pattern: RegExp): RegExp => new RegExp(`^(?:${pattern.source})$`);
  for (const { rows } of TARGETS)
    assert.ok(
      names.some((name) => whole(rows).test(name)),
      String(rows),
    );
  for (const { rows } of FLOORS)
    assert.ok(
      guarded.some((name) => whole(rows).test(name)),
      String(rows),
    );
});

test('flow control may cost five per cent, or as much as the rounds differ', () => {
  const which = row('flow', 'connect echo x64');
  const cpu = (us: number): Sample => sample(100, { serverCpuUs: us, agentCpuUs: 0 });
  const verdict = (on: number[], off: number[]): string | undefined => {
    const results = new Results();
    add(results, which, 'ours', ...on.map(cpu));
    add(results, which, 'off', ...off.map(cpu));
    return flowVerdicts([which], results)[0]?.verdict;
  };
  assert.equal(verdict([104], [100]), 'met');
  assert.equal(verdict([106], [100]), 'MISSED');
  assert.equal(verdict([105, 110, 111], [90, 100, 106]), 'met');
});

test('memory of a tunnel is what grew between the first and the last number, judged for ours alone', () => {
  const readings = [
    { tunnels: 200, serverBytes: 60e6, agentBytes: 50e6 },
    { tunnels: 1000, serverBytes: 99e6, agentBytes: 99e6 },
    { tunnels: 1200, serverBytes: 73e6, agentBytes: 59e6 },
  ];
  const result = { frontend: 'connect', contender: { side: 'ours', variant: '' }, readings } as const;
  assert.deepEqual(perTunnel(result), { serverKb: 13, agentKb: 9 });
  assert.deepEqual(
    memoryVerdicts([result, { ...result, contender: { side: 'peer', variant: '' } }]).map(
      ({ verdict }) => verdict,
    ),
    ['MISSED', 'met'],
  );
});
