import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LeaseWatch } from '../peers/kube/lease-watch.ts';
import { refusal } from '../peers/kube/status.ts';
import { until } from '../peers/sockets-left.ts';
import { type LeaseCase, leaseCase, NAMESPACE } from './lease-case.ts';

/** Resolves with the watch that is open, when it is. */
async function watching({ api }: LeaseCase): Promise<LeaseWatch> {
  await until(() => api.watches.size > 0, 'a watch');
  return [...api.watches][0] as LeaseWatch;
}

/** Ends the open watch in some way and resolves when the next one is open. */
async function nextWatch(parts: LeaseCase, end: (watch: LeaseWatch) => void): Promise<void> {
  const watches = parts.api.count('watch', 'leases');
  end(await watching(parts));
  await until(() => parts.api.watches.size === 0, 'the end of the watch');
  // For the next expiry, and before the next request.
  await parts.clock.waits(2);
  parts.clock.advance(600);
  await until(() => parts.api.count('watch', 'leases') > watches, 'another watch');
  await watching(parts);
}

test('valid Leases are counted: by renewTime, else by acquireTime', () =>
  leaseCase(async (parts) => {
    parts.put('renewed', 29_000);
    parts.put('expired', 31_000);
    parts.put('acquired', 0, { renewTime: undefined, acquireTime: parts.time(-10_000) });
    parts.put('renewed-long-ago', 40_000, { acquireTime: parts.time(0) });
    parts.put('of-others', 0, {}, { app: 'other' });
    const counter = parts.counter();
    assert.equal(await parts.counts.next(), 2);
    assert.equal(counter.count, 2);
  }));

test('no valid Lease counts as one server, and is said', () =>
  leaseCase(async (parts) => {
    parts.put('expired', 90_000);
    const counter = parts.counter();
    assert.match(await parts.logged('No Lease of a server is valid'), /known=1/);
    assert.equal(counter.count, 1);
  }));

test('a full label selector is left to the API', () =>
  leaseCase(async (parts) => {
    parts.put('a', 0, {}, { zone: 'a', tier: 'x' });
    parts.put('b', 0, {}, { zone: 'b', tier: 'x' });
    parts.put('c', 0, {}, { zone: 'c' });
    parts.put('d', 0, {}, { zone: 'a', tier: 'x', old: 'yes' });
    parts.counter({ selector: 'zone in (a, b, c),tier,!old,tier!=y' });
    assert.equal(await parts.counts.next(), 2);
  }));

test('an empty selector counts all Leases of the namespace', () =>
  leaseCase(async (parts) => {
    parts.put('a', 0, {}, {});
    parts.put('b');
    parts.counter({ selector: '' });
    assert.equal(await parts.counts.next(), 2);
  }));

test('the count follows Leases that come, go, expire and change their labels', () =>
  leaseCase(async (parts) => {
    parts.put('a');
    parts.put('b');
    parts.put('c');
    parts.counter();
    assert.equal(await parts.counts.next(), 3);
    await watching(parts);
    parts.put('d');
    assert.equal(await parts.counts.next(), 4);
    parts.api.leases.remove(NAMESPACE, 'd');
    assert.equal(await parts.counts.next(), 3);
    parts.put('c', 0, {}, { app: 'other' });
    assert.equal(await parts.counts.next(), 2);
    parts.clock.advance(20_000);
    parts.put('a');
    await until(() => parts.clock.waiting > 0, 'the wait for the next expiry');
    await parts.logged('Number of servers');
    // The event of a's renewal is seen before b's time is over.
    parts.put('e');
    assert.equal(await parts.counts.next(), 3);
    parts.clock.advance(10_500);
    assert.equal(await parts.counts.next(), 2);
  }));

test('a server whose clock is 30 seconds behind is counted while it renews, and that is said once', () =>
  leaseCase(async (parts) => {
    parts.put('right');
    parts.put('behind', 30_000);
    const counter = parts.counter();
    await watching(parts);
    assert.equal(counter.count, 1);
    for (let i = 0; i < 3; i++) {
      parts.clock.advance(15_000);
      parts.put('right');
      parts.put('behind', 30_000);
      // That it is counted shows that what was written before it is known.
      parts.put(`last-${i}`, 0, { leaseDurationSeconds: 3_600 });
      assert.equal(await parts.counts.next((count) => count === i + 3), i + 3);
    }
    assert.equal(parts.said('The clock of a server is behind ours'), 1);
    assert.deepEqual(parts.counts.all, [2, 3, 4, 5]);
    parts.clock.advance(31_000);
    assert.equal(await parts.counts.next(), 3);
  }));

test('a Lease that is written back with an old time is not renewed', () =>
  leaseCase(async (parts) => {
    parts.put('a');
    parts.put('b');
    parts.counter();
    assert.equal(await parts.counts.next(), 2);
    await watching(parts);
    parts.put('b', 31_000);
    assert.equal(await parts.counts.next(), 1);
  }));

test('Leases without times or duration are not counted, and each is said once', () =>
  leaseCase(async (parts) => {
    parts.put('no-time', 0, { renewTime: undefined });
    parts.put('no-duration', 0, { leaseDurationSeconds: undefined });
    const counter = parts.counter();
    await watching(parts);
    parts.put('no-time', 0, { renewTime: undefined, holderIdentity: 'again' });
    parts.put('a');
    parts.put('b');
    assert.equal(await parts.counts.next(), 2);
    assert.equal(counter.count, 2);
    assert.equal(parts.said('neither renewTime nor acquireTime'), 1);
    assert.equal(parts.said('no leaseDurationSeconds'), 1);
  }));

test('a watch that the API ends in order goes on from its last version, without another list', () =>
  leaseCase(async (parts) => {
    parts.put('a');
    parts.counter();
    (await watching(parts)).bookmark();
    parts.put('b');
    assert.equal(await parts.counts.next(), 2);
    const { revision } = parts.api.leases;
    await nextWatch(parts, (watch) => watch.end());
    assert.equal(parts.api.count('list', 'leases'), 1);
    const last = parts.api.requests.all.findLast((one) => one.verb === 'watch');
    assert.equal(last?.query.get('resourceVersion'), String(revision));
    assert.equal(last?.query.get('allowWatchBookmarks'), 'true');
    parts.put('c');
    assert.equal(await parts.counts.next(), 3);
    assert.equal(parts.said('Cannot follow'), 0);
  }));

for (const expiry of ['status', 'event'] as const) {
  test(`a watch from a version that is gone (by ${expiry}) begins with a new list, silently`, () =>
    leaseCase(async (parts) => {
      parts.put('a');
      parts.counter();
      const watch = await watching(parts);
      parts.api.expiry = expiry;
      watch.end();
      await until(() => parts.api.watches.size === 0, 'the end of the watch');
      parts.put('b');
      parts.api.leases.compact();
      await parts.clock.waits(2);
      parts.clock.advance(600);
      await parts.logged('Leases are read anew');
      await parts.clock.waits(2);
      parts.clock.advance(600);
      assert.equal(await parts.counts.next(), 2);
      await watching(parts);
      parts.put('c');
      assert.equal(await parts.counts.next(), 3);
      assert.equal(parts.said('Cannot follow'), 0);
    }));
}

for (const [what, end] of [
  ['reset', (watch: LeaseWatch) => watch.reset()],
  ['cut within an event', (watch: LeaseWatch) => watch.cut()],
] as const) {
  test(`a watch that is ${what} is said once and begun again`, () =>
    leaseCase(async (parts) => {
      parts.put('a');
      parts.counter();
      await nextWatch(parts, end);
      parts.put('b');
      assert.equal(await parts.counts.next(), 2);
      await nextWatch(parts, end);
      parts.put('c');
      assert.equal(await parts.counts.next(), 3);
      assert.equal(parts.said('Cannot follow'), 1);
      assert.equal(parts.said('are followed again'), 1);
    }));
}

test('an API that is down at the start counts as one server, said once, until it is back', () =>
  leaseCase(async (parts) => {
    parts.put('a');
    parts.put('b');
    await parts.api.refuse();
    const counter = parts.counter();
    for (let i = 0; i < 5; i++) {
      await parts.clock.waits(1);
      assert.equal(counter.count, 1);
      parts.clock.advance(10_000);
    }
    await parts.clock.waits(1);
    assert.equal(parts.said('Cannot follow'), 1);
    parts.put('a');
    parts.put('b');
    await parts.api.listen();
    parts.clock.advance(10_000);
    assert.equal(await parts.counts.next(), 2);
    await parts.logged('are followed again');
  }));

for (const verb of ['list', 'watch'] as const) {
  test(`a ${verb} that is forbidden is said once and counted each time`, () =>
    leaseCase(async (parts) => {
      parts.put('a');
      const mend = parts.api.faults.add(verb, 'leases', refusal(403, `you cannot ${verb}`));
      parts.counter();
      for (let i = 0; i < 4; i++) {
        await parts.api.requested(verb, 'leases');
        await parts.clock.waits(verb === 'list' ? 1 : 2);
        parts.clock.advance(10_000);
        parts.put('a');
      }
      assert.equal(parts.said('Cannot follow'), 1);
      assert.match(await parts.logged('Cannot follow'), new RegExp(`you cannot ${verb}`));
      const refused = parts.answers.filter((answer) => answer === `${verb} 403 Forbidden`);
      assert.ok(refused.length >= 4, parts.answers.join());
      mend();
      await until(() => {
        parts.clock.advance(1_000);
        return parts.api.watches.size > 0;
      }, 'a watch');
      await parts.logged('are followed again');
    }));
}

test('an API that has too many requests is asked again when it says', () =>
  leaseCase(async (parts) => {
    parts.put('a');
    parts.put('b');
    parts.api.faults.add('list', 'leases', refusal(429, 'later', { retryAfterSeconds: 0 }), 2);
    parts.counter();
    assert.equal(await parts.counts.next(), 2);
    assert.equal(parts.said('Cannot follow'), 0);
  }));

test('lists and watches are counted as the API answered them', () =>
  leaseCase(async (parts) => {
    parts.put('a');
    parts.counter();
    await watching(parts);
    await until(() => parts.answers.length === 2, 'two answers');
    assert.deepEqual(parts.answers, ['list 200', 'watch 200']);
  }));

test('a counter that is ended waits for nothing', () =>
  leaseCase(async (parts) => {
    parts.put('a');
    parts.counter();
    await watching(parts);
    await parts.close();
    assert.equal(parts.clock.waiting, 0);
  }));
