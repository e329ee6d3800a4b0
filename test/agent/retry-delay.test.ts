import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultAgentTimes } from '../../src/proxy/agent/agent-options.ts';
import { RetryDelay } from '../../src/proxy/agent/retry-delay.ts';

/** A delay with a clock in the test's hand; `random` is fixed. */
function withClock(random = 0.5): {
  delay: RetryDelay;
  pass: (ms: number) => void;
  waits: (n: number) => number[];
} {
  let nowMs = 1_000;
  const delay = new RetryDelay(
    defaultAgentTimes,
    () => random,
    () => nowMs,
  );
  const waits = (n: number): number[] =>
    Array.from({ length: n }, () => {
      const ms = Math.round(delay.next());
      nowMs += ms;
      return ms;
    });
  return {
    delay,
    waits,
    pass: (ms) => {
      nowMs += ms;
    },
  };
}

const LONG_MS = 3_600_000;

test('an agent that never had a server backs off from the sync interval to its cap', () => {
  const { waits } = withClock(0);
  assert.deepEqual(waits(9), [1000, 1500, 2250, 3375, 5063, 7594, 10_000, 10_000, 10_000]);
});

test('after a loss the first attempts come quickly, then one a second, for two minutes', () => {
  const { delay, waits } = withClock();
  delay.lost(LONG_MS);
  assert.deepEqual(waits(4), [200, 500, 1000, 1000]);
  const later = waits(130);
  assert.ok(later.slice(0, 116).every((ms) => ms === 1000));
  assert.ok(later.slice(120).every((ms) => ms > 1000));
});

test('the attempts of many agents spread', () => {
  for (const [random, expected] of [
    [0, 500],
    [0.999, 1499],
  ] as const) {
    const { delay, waits } = withClock(random);
    delay.lost(LONG_MS);
    assert.equal(waits(3)[2], expected);
  }
});

test('each loss of a stream that had lived begins the quick attempts anew', () => {
  const { delay, waits, pass } = withClock();
  delay.lost(LONG_MS);
  waits(50);
  delay.reached();
  pass(LONG_MS);
  delay.lost(LONG_MS);
  assert.deepEqual(waits(2), [200, 500]);
});

test('a server that drops every stream at once is not asked ever again quickly', () => {
  const { delay, waits, pass } = withClock(0);
  for (const expected of [200, 500, 500, 500]) {
    delay.reached();
    delay.lost(5);
    assert.deepEqual(waits(1), [expected]);
  }
  pass(120_000);
  for (const expected of [1000, 1500, 2250, 3375]) {
    delay.reached();
    delay.lost(5);
    assert.deepEqual(waits(1), [expected]);
  }
});

test('a new server resets the back-off, since others may have come with it', () => {
  const { delay, waits } = withClock(0);
  waits(6);
  delay.reached();
  assert.deepEqual(waits(2), [1000, 1500]);
});
