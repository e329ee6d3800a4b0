import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Descriptors } from '../../src/proxy/ops/descriptors.ts';
import { createLog } from '../../src/proxy/ops/log.ts';

function descriptors(open: number, limit = 1024) {
  const lines: string[] = [];
  const source = { limit, open, counts: 0, nowMs: 0, count: () => 0, now: () => source.nowMs };
  source.count = () => {
    source.counts++;
    return source.open;
  };
  const log = createLog({ verbosity: 2, write: (line) => lines.push(line) });
  return { gate: new Descriptors(log, source), source, lines };
}

it('tunnels are refused shortly before the last descriptor, and taken again when there are some', () => {
  const { gate, source, lines } = descriptors(100);
  assert.equal(gate.refuseOneMore(), false);
  source.open = 1000;
  source.nowMs += 2_000;
  assert.equal(gate.refuseOneMore(), true);
  assert.equal(gate.refuseOneMore(), true);
  source.open = 500;
  source.nowMs += 200;
  assert.equal(gate.refuseOneMore(), false);
  assert.equal(lines.length, 2);
  assert.match(lines[0] ?? '', /Out of file descriptors.*open=1000 limit=1024/);
  assert.match(lines[1] ?? '', /There are file descriptors again/);
});

it('a burst within one count is not let through to the last descriptor', () => {
  const { gate } = descriptors(900);
  let taken = 0;
  while (!gate.refuseOneMore() && taken < 1000) taken++;
  assert.ok(taken < 100, `${taken} taken`);
});

it('descriptors are not counted for every tunnel', () => {
  const { gate, source } = descriptors(10, 100_000);
  for (let i = 0; i < 10_000; i++) assert.equal(gate.refuseOneMore(), false);
  assert.equal(source.counts, 1);
});

it('there is no limit where the system names none', () => {
  const { gate } = descriptors(1_000_000, Number.POSITIVE_INFINITY);
  assert.equal(gate.refuseOneMore(), false);
});
