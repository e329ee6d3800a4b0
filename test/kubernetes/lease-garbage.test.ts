import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeApi } from '../../src/proxy/kubernetes/kube-api.ts';
import { KubeFault } from '../../src/proxy/kubernetes/kube-fault.ts';
import { listAll } from '../../src/proxy/kubernetes/lease-pages.ts';
import { leaseTerm } from '../../src/proxy/kubernetes/lease-term.ts';
import { type Lease, Leases } from '../../src/proxy/kubernetes/leases.ts';

const { signal } = new AbortController();

/** Leases of an API that answers everything with 200 and this. */
function leasesOf(body: unknown): Leases {
  const api = {
    request: async () => ({ status: 200, body }),
    watch: async function* () {
      yield { type: 'MODIFIED', object: body };
    },
    close: () => {},
  };
  return new Leases(api as unknown as KubeApi, 'ns');
}

function isBadAnswer(error: unknown): boolean {
  return error instanceof KubeFault && error.code === 'kube-bad-answer';
}

for (const body of [{}, [], { metadata: null }, { metadata: {} }, { metadata: { name: 7 } }]) {
  test(`${JSON.stringify(body)} in place of a Lease is a bad answer`, async () => {
    const leases = leasesOf(body);
    const lease = { metadata: { name: 'a' } };
    await assert.rejects(leases.get('a', signal), isBadAnswer);
    await assert.rejects(leases.create(lease, signal), isBadAnswer);
    await assert.rejects(leases.update(lease, signal), isBadAnswer);
    await assert.rejects(leases.watch({}, { signal, silentMs: 1 }).next(), isBadAnswer);
    await assert.rejects(leasesOf({ items: [body] }).list({}, signal), isBadAnswer);
  });
}

test('items that are no list are a bad answer, and no items are none', async () => {
  await assert.rejects(leasesOf({ items: 'x' }).list({}, signal), isBadAnswer);
  const { body } = await leasesOf({ items: null, metadata: null }).list({}, signal);
  assert.deepEqual(body, { items: [], metadata: { resourceVersion: '' } });
});

test('pages that never end are read for a while only', async () => {
  let pages = 0;
  const leases = leasesOf({ items: [], metadata: { continue: 'more' } });
  await listAll(leases, {}, signal, (request) => {
    pages++;
    return request();
  });
  assert.equal(pages, 100);
});

test('a spec that is none says no time', () => {
  for (const spec of [null, 7, { renewTime: { toString: 1 } }, { renewTime: 5, acquireTime: [] }]) {
    const lease = { metadata: { name: 'a' }, spec } as unknown as Lease;
    assert.equal(leaseTerm(lease).kind, 'no-time');
  }
});
