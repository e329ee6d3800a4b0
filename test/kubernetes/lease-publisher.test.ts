import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusal } from '../peers/kube/status.ts';
import { until } from '../peers/sockets-left.ts';
import { type LeaseCase, leaseCase, NAMESPACE } from './lease-case.ts';

const NAME = 'konnectivity-proxy-server-server-1';
/** Later than any jitter. */
const RENEW_MS = 16_000;

/** Resolves when publisher and collector have done what they had to do and wait for the clock. */
async function settled({ clock }: LeaseCase): Promise<void> {
  await clock.waits(2);
}

test('a server publishes the Lease that Go servers publish', () =>
  leaseCase(async (parts) => {
    parts.controller();
    await settled(parts);
    const { metadata, spec } = parts.api.leases.get(NAMESPACE, NAME);
    assert.deepEqual(metadata.labels, { 'k8s-app': 'konnectivity-server' });
    assert.deepEqual(spec, {
      holderIdentity: 'server-1',
      leaseDurationSeconds: 30,
      renewTime: '2030-01-01T00:00:00.000000Z',
    });
    assert.equal(parts.said('Published our Lease'), 1);
  }));

test('a server renews its Lease every 15 seconds, without asking for it first', () =>
  leaseCase(async (parts) => {
    parts.controller();
    await settled(parts);
    const gets = parts.api.count('get', 'leases');
    for (const renewTime of ['2030-01-01T00:00:16.000000Z', '2030-01-01T00:00:32.000000Z']) {
      parts.clock.advance(RENEW_MS);
      await parts.api.requested('update', 'leases');
      await settled(parts);
      assert.equal(parts.api.leases.get(NAMESPACE, NAME).spec.renewTime, renewTime);
    }
    assert.equal(parts.api.count('get', 'leases'), gets);
    assert.equal(parts.said('Published our Lease'), 1);
  }));

test('a server takes over a Lease of its name and gives it its labels', () =>
  leaseCase(async (parts) => {
    parts.put(
      NAME,
      600_000,
      { acquireTime: parts.time(-900_000), holderIdentity: 'server-1' },
      { old: 'label' },
    );
    parts.controller();
    await settled(parts);
    const { metadata, spec } = parts.api.leases.get(NAMESPACE, NAME);
    assert.deepEqual(metadata.labels, { 'k8s-app': 'konnectivity-server' });
    assert.equal(spec.renewTime, parts.time(0));
    assert.equal(spec.acquireTime, parts.time(-900_000));
  }));

test('a Lease that somebody deleted is made again at the next renewal', () =>
  leaseCase(async (parts) => {
    parts.controller();
    await settled(parts);
    parts.api.leases.remove(NAMESPACE, NAME);
    parts.clock.advance(RENEW_MS);
    await parts.logged('was deleted by somebody else');
    await settled(parts);
    assert.deepEqual(parts.names(), [NAME]);
  }));

test('a conflict is overcome within the same renewal', () =>
  leaseCase(async (parts) => {
    parts.controller();
    await settled(parts);
    parts.put(NAME, 0, { holderIdentity: 'other' });
    parts.clock.advance(RENEW_MS);
    await parts.logged('was changed by somebody else');
    await settled(parts);
    const { spec } = parts.api.leases.get(NAMESPACE, NAME);
    assert.deepEqual([spec.holderIdentity, spec.renewTime], ['server-1', parts.time(0)]);
    assert.equal(parts.said('cannot be renewed'), 0);
  }));

test('an API that is down at the start is said once, and the Lease published when it is back', () =>
  leaseCase(async (parts) => {
    await parts.api.refuse();
    parts.controller();
    for (const ms of [200, 400, 800]) {
      await settled(parts);
      parts.clock.advance(ms);
    }
    await settled(parts);
    assert.equal(parts.said('cannot be renewed'), 1);
    assert.match(await parts.logged('cannot be renewed'), /nothing listens on https:\/\/127/);
    await parts.api.listen();
    parts.clock.advance(7_000);
    await parts.logged('Published our Lease');
    await parts.logged('Lease is renewed again');
  }));

for (const [what, code] of [
  ['forbidden', 403],
  ['unauthorized', 401],
  ['failing', 500],
] as const) {
  test(`an API that is ${what} is said once, however often it is asked`, () =>
    leaseCase(async (parts) => {
      const mend = parts.api.faults.add('*', 'leases', refusal(code, 'no leases for you'));
      parts.controller();
      for (let i = 0; i < 5; i++) {
        await settled(parts);
        parts.clock.advance(RENEW_MS);
      }
      await settled(parts);
      assert.equal(parts.said('cannot be renewed'), 1);
      assert.match(await parts.logged('cannot be renewed'), /no leases for you/);
      mend();
      parts.clock.advance(RENEW_MS);
      await parts.logged('Lease is renewed again');
    }));
}

for (const fault of [refusal(429, 'slow down', { retryAfterSeconds: 0 }), 'reset', 'garbage'] as const) {
  const what = typeof fault === 'string' ? fault : '429 with Retry-After';
  test(`a Lease is renewed in spite of ${what}`, () =>
    leaseCase(async (parts) => {
      parts.controller();
      await settled(parts);
      parts.api.faults.add('update', 'leases', fault, 1);
      parts.clock.advance(RENEW_MS);
      await parts.api.requested('update', 'leases');
      await settled(parts);
      parts.clock.advance(1_000);
      await until(
        () => parts.api.leases.get(NAMESPACE, NAME).spec.renewTime !== '2030-01-01T00:00:00.000000Z',
        'a renewal',
      );
    }));
}

test('a server deletes its Lease when it stops', () =>
  leaseCase(async (parts) => {
    const controller = parts.controller();
    await settled(parts);
    await controller.stop(parts.never);
    assert.deepEqual(parts.names(), []);
    assert.equal(parts.clock.waiting, 0);
  }));

test('a stopping server leaves a Lease to the process that took it over', () =>
  leaseCase(async (parts) => {
    const controller = parts.controller();
    await settled(parts);
    parts.put(NAME);
    await controller.stop(parts.never);
    assert.deepEqual(parts.names(), [NAME]);
    assert.equal(parts.said('no longer ours to delete'), 1);
  }));

test('a renewal that is under way at the stop does not bring the Lease back', () =>
  leaseCase(async (parts) => {
    const controller = parts.controller();
    await settled(parts);
    const { revision } = parts.api.leases;
    const release = parts.api.faults.add('update', 'leases', 'hang');
    parts.clock.advance(RENEW_MS);
    await parts.api.requested('update', 'leases');
    const stopped = controller.stop(parts.never);
    release();
    await stopped;
    assert.deepEqual(parts.names(), []);
    // Made, renewed, deleted: the renewal was not given up, since it might have been carried out after the deletion.
    assert.equal(parts.api.leases.revision, revision + 2);
  }));

test('a stop waits no longer than its time for an API that hangs', () =>
  leaseCase(async (parts) => {
    const controller = parts.controller();
    await settled(parts);
    parts.api.faults.add('delete', 'leases', 'hang');
    const stopped = controller.stop(parts.never);
    await parts.api.requested('delete', 'leases');
    parts.clock.advance(5_000);
    await stopped;
    assert.match(await parts.logged('could not be deleted'), /inSeconds=30/);
  }));

test('a second signal skips the deletion', () =>
  leaseCase(async (parts) => {
    const controller = parts.controller();
    await settled(parts);
    parts.api.faults.add('delete', 'leases', 'hang');
    const hurry = new AbortController();
    const stopped = controller.stop(hurry.signal);
    await parts.api.requested('delete', 'leases');
    hurry.abort();
    await stopped;
    assert.deepEqual(parts.names(), [NAME]);
  }));

test('a clock that differs from the clock of the API is said', () =>
  leaseCase(async (parts) => {
    parts.clock.jump(Date.now() - parts.clock.wallMs() - 31_000);
    parts.controller();
    await settled(parts);
    assert.match(await parts.logged('The clock of this machine'), /behind.*seconds=3[01]/);
  }));
