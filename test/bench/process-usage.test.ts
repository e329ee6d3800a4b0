import assert from 'node:assert/strict';
import { test } from 'node:test';
import { machineCpuMs, othersBusy } from '../../bench/process-usage.ts';

const STAT = 'cpu  100 20 300 9000 50 4 60 8 0 0\ncpu0 50 10 150 4500 25 2 30 4 0 0\n';

test('interrupts belong to the time of the machine where the kernel counts them for processes', () => {
  assert.equal(machineCpuMs(STAT, true), 4_920);
  assert.equal(machineCpuMs(STAT, false), 4_280);
});

test('what other programs used is never less than nothing', () => {
  assert.equal(othersBusy(1_000, 1_010, 500), 0);
  assert.equal(othersBusy(1_500, 1_000, 1_000), 0.5);
});
