import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TokenBucket } from '../../src/proxy/kubernetes/token-bucket.ts';

function bucketAt(options: { perSecond: number; burst: number; mostWaitMs: number }) {
  const clock = { ms: 0 };
  return { clock, bucket: new TokenBucket({ ...options, now: () => clock.ms }) };
}

test('the burst passes at once, and then one after the other', () => {
  const { bucket } = bucketAt({ perSecond: 5, burst: 2, mostWaitMs: 1000 });
  assert.deepEqual(
    [1, 2, 3, 4].map(() => bucket.take()),
    [0, 0, 200, 400],
  );
});

test('turns that nobody takes are kept up to the burst', () => {
  const { bucket, clock } = bucketAt({ perSecond: 5, burst: 2, mostWaitMs: 0 });
  bucket.take();
  bucket.take();
  assert.equal(bucket.take(), undefined);
  clock.ms = 60_000;
  assert.deepEqual(
    [1, 2, 3].map(() => bucket.take()),
    [0, 0, undefined],
  );
});

test('who would have to wait for too long takes no turn from others', () => {
  const { bucket, clock } = bucketAt({ perSecond: 1, burst: 1, mostWaitMs: 1000 });
  assert.deepEqual(
    [1, 2, 3, 4].map(() => bucket.take()),
    [0, 1000, undefined, undefined],
  );
  clock.ms = 1000;
  assert.equal(bucket.take(), 1000);
});

test('a turn that is given back is taken by the next', () => {
  const { bucket } = bucketAt({ perSecond: 1, burst: 1, mostWaitMs: 0 });
  bucket.take();
  bucket.giveBack();
  assert.equal(bucket.take(), 0);
});

test('in a pause nobody has a turn, without a limit neither', () => {
  for (const perSecond of [5, -1]) {
    const { bucket, clock } = bucketAt({ perSecond, burst: 2, mostWaitMs: 1000 });
    bucket.pause(700);
    assert.equal(bucket.take(), 700);
    bucket.pause(1100);
    assert.equal(bucket.take(), undefined);
    clock.ms = 1200;
    assert.equal(bucket.take(), 0);
  }
});
