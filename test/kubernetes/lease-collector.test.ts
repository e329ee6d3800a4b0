import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusal } from '../peers/kube/status.ts';
import { type LeaseCase, leaseCase, NAMESPACE } from './lease-case.ts';

const OWN = 'konnectivity-proxy-server-server-1';
const ROUND_MS = 16_000;

/** The collector and the publisher have come to their waits. */
async function settled({ clock }: LeaseCase): Promise<void> {
  await clock.waits(2);
}

/** The next round, to its end. */
async function round(parts: LeaseCase): Promise<void> {
  parts.clock.advance(ROUND_MS);
  await parts.api.requested('list', 'leases');
  await settled(parts);
}

test('expired Leases with the labels are deleted, and no others', () =>
  leaseCase(async (parts) => {
    parts.put('expired', 90_000);
    parts.put('expired-acquired', 0, { renewTime: undefined, acquireTime: parts.time(-90_000) });
    parts.put('valid', 10_000);
    parts.put('valid-for-long', 90_000, { leaseDurationSeconds: 3_600 });
    parts.put('of-others', 90_000, {}, { app: 'other' });
    parts.controller();
    await settled(parts);
    assert.deepEqual(parts.names(), [OWN, 'of-others', 'valid', 'valid-for-long']);
    assert.equal(parts.culled, 2);
    assert.deepEqual(parts.answers, ['list 200', 'delete 200', 'delete 200']);
  }));

test('a server that is gone has its Lease deleted in a later round', () =>
  leaseCase(async (parts) => {
    parts.controller();
    await settled(parts);
    parts.put('gone');
    await round(parts);
    assert.deepEqual(parts.names(), ['gone', OWN]);
    await round(parts);
    await round(parts);
    assert.deepEqual(parts.names(), [OWN]);
  }));

test('our own Lease is left to its publisher, however old it is', () =>
  leaseCase(async (parts) => {
    parts.put(OWN, 90_000);
    parts.api.faults.add('update', 'leases', refusal(403, 'no'));
    parts.controller();
    await settled(parts);
    assert.deepEqual(parts.names(), [OWN]);
    assert.equal(parts.api.count('delete', 'leases'), 0);
  }));

test('a Lease that is renewed between the look and the deletion stays', () =>
  leaseCase(async (parts) => {
    parts.put('revived', 90_000);
    const release = parts.api.faults.add('delete', 'leases', 'hang');
    parts.controller();
    await parts.api.requested('delete', 'leases');
    parts.put('revived');
    release();
    await settled(parts);
    assert.deepEqual(parts.names(), [OWN, 'revived']);
    assert.equal(parts.culled, 0);
    assert.equal(parts.said('Cannot delete'), 0);
    assert.ok(parts.answers.includes('delete 409 Conflict'), parts.answers.join());
  }));

test('a Lease that another server deleted first is no failure', () =>
  leaseCase(async (parts) => {
    parts.put('gone', 90_000);
    const release = parts.api.faults.add('delete', 'leases', 'hang');
    parts.controller();
    await parts.api.requested('delete', 'leases');
    parts.api.leases.remove(NAMESPACE, 'gone');
    release();
    await settled(parts);
    assert.ok(parts.answers.includes('delete 404 NotFound'), parts.answers.join());
    assert.equal(parts.culled, 0);
    assert.equal(parts.said('Cannot delete'), 0);
  }));

test('a server that is alive with a clock 30 seconds behind keeps its Lease, and loses it when it is gone', () =>
  leaseCase(async (parts) => {
    parts.put('behind', 30_000);
    parts.controller();
    await settled(parts);
    for (let i = 0; i < 4; i++) {
      assert.deepEqual(parts.names(), ['behind', OWN]);
      parts.clock.advance(ROUND_MS);
      parts.put('behind', 30_000);
      await parts.api.requested('list', 'leases');
      await settled(parts);
    }
    await round(parts);
    await round(parts);
    await round(parts);
    assert.deepEqual(parts.names(), [OWN]);
  }));

test('a Lease without times counts as expired, one without a duration is left alone; each is said once', () =>
  leaseCase(async (parts) => {
    parts.api.faults.add('delete', 'leases', refusal(500, 'later'), 2);
    parts.put('no-time', 0, { renewTime: undefined });
    parts.put('no-duration', 90_000, { leaseDurationSeconds: undefined });
    parts.controller();
    await settled(parts);
    await round(parts);
    await round(parts);
    assert.deepEqual(parts.names(), [OWN, 'no-duration']);
    assert.equal(parts.said('neither renewTime nor acquireTime'), 1);
    assert.equal(parts.said('no leaseDurationSeconds'), 1);
    assert.equal(parts.said('Cannot delete an expired Lease'), 1);
  }));

test('a list that is forbidden is said once and counted each time', () =>
  leaseCase(async (parts) => {
    const mend = parts.api.faults.add('list', 'leases', refusal(403, 'you cannot list leases'));
    parts.controller();
    await settled(parts);
    await round(parts);
    await round(parts);
    assert.equal(parts.said('Cannot look for expired Leases'), 1);
    assert.match(await parts.logged('Cannot look for expired Leases'), /you cannot list leases/);
    assert.deepEqual(parts.answers, Array(3).fill('list 403 Forbidden'));
    mend();
    await round(parts);
    assert.equal(parts.said('Expired Leases are looked for again'), 1);
  }));

test('more Leases than one page are all looked at', () =>
  leaseCase(async (parts) => {
    for (let i = 0; i < 501; i++) parts.put(`valid-${i}`);
    parts.put('zzz-expired', 90_000);
    parts.controller();
    await settled(parts);
    assert.equal(parts.culled, 1);
    assert.deepEqual(parts.answers, ['list 200', 'list 200', 'delete 200']);
  }));
