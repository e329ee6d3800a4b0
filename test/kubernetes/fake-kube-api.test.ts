import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { FakeKubeApi } from '../peers/fake-kube-api.ts';
import { refusal } from '../peers/kube/status.ts';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';

let api: FakeKubeApi;
beforeEach(async () => {
  api = await FakeKubeApi.start();
});
afterEach(async () => {
  await api.close();
});

async function open(
  method: string,
  path: string,
  body?: object,
  token = api.token,
): Promise<IncomingMessage> {
  const text = body === undefined ? '' : JSON.stringify(body);
  const call = request(new URL(path, api.url), {
    method,
    ca: readFileSync(api.caFile),
    headers: { authorization: `Bearer ${token}`, 'content-length': Buffer.byteLength(text) },
    agent: false,
  });
  call.end(text);
  const [response] = await once(call, 'response');
  return response;
}

// biome-ignore lint/suspicious/noExplicitAny: a client without types
async function ask(method: string, path: string, body?: object, token = api.token): Promise<any> {
  const response = await open(method, path, body, token);
  const chunks: Buffer[] = await response.toArray();
  return {
    code: response.statusCode,
    headers: response.headers,
    ...JSON.parse(Buffer.concat(chunks).toString()),
  };
}

function lease(name: string, labels: Record<string, string> = {}, more: object = {}): object {
  return { metadata: { name, labels, ...more }, spec: { leaseDurationSeconds: 30 } };
}

describe('the fake Kubernetes API', () => {
  it('keeps Leases under resource versions and refuses writes from old ones', async () => {
    const made = await ask('POST', LEASES, lease('a'));
    assert.equal(made.code, 201);
    assert.equal((await ask('POST', LEASES, lease('a'))).reason, 'AlreadyExists');
    const changed = await ask('PUT', `${LEASES}/a`, made);
    assert.notEqual(changed.metadata.resourceVersion, made.metadata.resourceVersion);
    assert.equal((await ask('PUT', `${LEASES}/a`, made)).reason, 'Conflict');
    const { resourceVersion } = made.metadata;
    assert.equal((await ask('DELETE', `${LEASES}/a`, { preconditions: { resourceVersion } })).code, 409);
    assert.equal((await ask('DELETE', `${LEASES}/a`)).status, 'Success');
    assert.equal((await ask('GET', `${LEASES}/a`)).reason, 'NotFound');
  });

  it('lists what a selector matches, in pages', async () => {
    for (const name of ['a', 'b', 'c']) await ask('POST', LEASES, lease(name, { app: name }));
    const some = await ask('GET', `${LEASES}?labelSelector=${encodeURIComponent('app in (a,c),app!=c')}`);
    assert.deepEqual(
      some.items.map((one: { metadata: { name: string } }) => one.metadata.name),
      ['a'],
    );
    const first = await ask('GET', `${LEASES}?limit=2`);
    assert.equal(first.items.length, 2);
    const rest = await ask('GET', `${LEASES}?limit=2&continue=${first.metadata.continue}`);
    assert.equal(rest.items.length, 1);
    assert.equal((await ask('GET', `${LEASES}?labelSelector=a%20b`)).code, 400);
  });

  it('watches from a version on, bookmarks, and tells a selector of what leaves it', async () => {
    const before = api.leases.revision;
    const made = await ask('POST', LEASES, lease('a', { app: 'x' }));
    const watch = await open('GET', `${LEASES}?watch=true&labelSelector=app%3Dx&resourceVersion=${before}`);
    const lines = createInterface(watch)[Symbol.asyncIterator]();
    const next = async (): Promise<string> => JSON.parse((await lines.next()).value).type;
    assert.equal(await next(), 'ADDED');
    await ask('PUT', `${LEASES}/a`, { ...made, metadata: { ...made.metadata, labels: {} } });
    assert.equal(await next(), 'DELETED');
    for (const one of api.watches) one.bookmark();
    assert.equal(await next(), 'BOOKMARK');
    for (const one of api.watches) one.expire();
    assert.equal(await next(), 'ERROR');
    assert.equal((await lines.next()).done, true);
  });

  it('refuses a watch from a version that is gone, as status or as event', async () => {
    api.leases.compact();
    assert.equal((await ask('GET', `${LEASES}?watch=1&resourceVersion=1`)).reason, 'Expired');
    api.expiry = 'event';
    const { type, object } = await ask('GET', `${LEASES}?watch=1&resourceVersion=1`);
    assert.deepEqual([type, object.code], ['ERROR', 410]);
  });

  it('reviews tokens with the verdict of the test, for clients it knows', async () => {
    api.review = ({ token }) => ({ authenticated: token === 'good' });
    const path = '/apis/authentication.k8s.io/v1/tokenreviews';
    assert.equal((await ask('POST', path, { spec: { token: 'good' } })).status.authenticated, true);
    assert.equal((await ask('POST', path, { spec: { token: 'good' } }, 'other')).reason, 'Unauthorized');
    assert.deepEqual(api.reviews, [{ token: 'good' }]);
    assert.equal(api.count('create', 'tokenreviews'), 2);
  });

  it('fails as it is told to, and works again', async () => {
    api.faults.add('list', 'leases', refusal(429, 'slow down', { retryAfterSeconds: 3 }), 1);
    const refused = await ask('GET', LEASES);
    assert.deepEqual([refused.code, refused.headers['retry-after']], [429, '3']);
    api.faults.add('list', 'leases', 'reset', 1);
    await assert.rejects(ask('GET', LEASES), { code: 'ECONNRESET' });
    const free = api.faults.add('list', 'leases', 'hang');
    const slow = ask('GET', LEASES);
    await api.requested('list', 'leases');
    free();
    assert.equal((await slow).kind, 'LeaseList');
    await api.refuse();
    await assert.rejects(ask('GET', LEASES), { code: 'ECONNREFUSED' });
    await api.listen();
    assert.equal((await ask('GET', LEASES)).kind, 'LeaseList');
  });
});
