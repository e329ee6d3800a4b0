import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KubeApi, openKubeApi } from '../../src/proxy/kubernetes/kube-api.ts';
import { Leases } from '../../src/proxy/kubernetes/leases.ts';
import { FakeKubeApi } from '../peers/fake-kube-api.ts';
import { refusal } from '../peers/kube/status.ts';
import { until } from '../peers/sockets-left.ts';

const never = new AbortController().signal;
const lease = (name: string) => ({ metadata: { name }, spec: { leaseDurationSeconds: 30 } });

async function withLeases(
  run: (fake: FakeKubeApi, leases: Leases, api: KubeApi) => Promise<void>,
  timeoutMs = 10_000,
): Promise<void> {
  const fake = await FakeKubeApi.start();
  const config = { kubeconfig: fake.kubeconfig(), env: {} };
  const api = await openKubeApi(config, { perSecond: -1, burst: 0, timeoutMs });
  try {
    await run(fake, new Leases(api, 'kube-system'), api);
  } finally {
    api.close();
    await fake.close();
  }
}

/** Reads a watch to its end and returns `TYPE name` of each event. */
async function all(watch: ReturnType<Leases['watch']>): Promise<string[]> {
  const events: string[] = [];
  for await (const { type, object } of watch) events.push(`${type} ${object.metadata.name}`);
  return events;
}

const endless = { signal: never, silentMs: 60_000 };

test('a lease is created, read, listed, renewed and deleted', () =>
  withLeases(async (_fake, leases) => {
    const { body: made, status } = await leases.create(lease('one'), never);
    assert.equal(status, 201);
    assert.equal((await leases.get('one', never)).body.metadata.uid, made.metadata.uid);
    const renewed = { ...made, spec: { ...made.spec, holderIdentity: 'us' } };
    const { body } = await leases.update(renewed, never);
    await assert.rejects(leases.update(renewed, never), { code: 'kube-conflict', httpStatus: 409 });
    await assert.rejects(leases.create(lease('one'), never), { kubeReason: 'AlreadyExists' });
    const { body: list } = await leases.list({ limit: '10' }, never);
    assert.deepEqual(list.items, [body]);
    await assert.rejects(leases.delete('one', made.metadata.resourceVersion, never), {
      code: 'kube-conflict',
    });
    await leases.delete('one', body.metadata.resourceVersion, never);
    await assert.rejects(leases.get('one', never), { code: 'kube-not-found' });
  }));

test('a watch tells of changes as they happen, and ends when the API ends it', () =>
  withLeases(async (fake, leases) => {
    const events = all(leases.watch({}, endless));
    await until(() => fake.watches.size === 1, 'the watch');
    const { body } = await leases.create(lease('one'), never);
    await leases.update(body, never);
    await leases.delete('one', undefined, never);
    for (const watch of fake.watches) {
      watch.bookmark();
      watch.end();
    }
    assert.deepEqual(await events, ['ADDED one', 'MODIFIED one', 'DELETED one', 'BOOKMARK undefined']);
  }));

test('a watch outlives the time-out of requests', () =>
  withLeases(async (fake, leases) => {
    const watch = leases.watch({}, endless);
    const first = watch.next();
    await until(() => fake.watches.size === 1, 'the watch');
    await assert.rejects(slow(fake, leases), { code: 'kube-timeout' });
    fake.leases.create('kube-system', { metadata: { name: 'one', namespace: 'kube-system' }, spec: {} });
    assert.equal((await first).value?.type, 'ADDED');
    await watch.return();
    await until(() => fake.watches.size === 0, 'the end of the watch');
  }, 1_000));

/** A request that begins after the watch and runs into its time-out. */
function slow(fake: FakeKubeApi, leases: Leases): Promise<unknown> {
  fake.faults.add('get', 'leases', 'hang');
  return leases.get('x', never);
}

for (const expiry of ['status', 'event'] as const) {
  test(`a watch from a version that is gone fails as gone (${expiry})`, () =>
    withLeases(async (fake, leases) => {
      fake.expiry = expiry;
      fake.leases.compact();
      const watch = all(leases.watch({ resourceVersion: '1' }, endless));
      await assert.rejects(watch, { code: 'kube-gone', httpStatus: 410, kubeReason: 'Expired' });
    }));
}

for (const [name, act, code] of [
  ['is reset', 'reset', 'kube-unreachable'],
  ['ends within an event', 'cut', 'kube-unreachable'],
] as const) {
  test(`a watch that ${name} fails`, () =>
    withLeases(async (fake, leases) => {
      const events = all(leases.watch({}, endless));
      await until(() => fake.watches.size === 1, 'the watch');
      for (const watch of fake.watches) watch[act]();
      await assert.rejects(events, { code });
    }));
}

test('a watch that may not be made fails with the reason', () =>
  withLeases(async (fake, leases) => {
    fake.faults.add('watch', 'leases', refusal(403, 'leases is forbidden'));
    await assert.rejects(all(leases.watch({}, endless)), {
      code: 'kube-forbidden',
      message: /leases is forbidden/,
    });
  }));

test('a watch that says nothing for too long fails', () =>
  withLeases(async (fake, leases) => {
    const watch = all(leases.watch({}, { signal: never, silentMs: 20 }));
    await assert.rejects(watch, { code: 'kube-timeout', message: /said nothing for 0.02 s in a watch/ });
    await until(() => fake.watches.size === 0, 'the end of the watch');
  }));

test('a watch ends with its signal', () =>
  withLeases(async (fake, leases) => {
    const stop = new AbortController();
    const events = all(leases.watch({}, { signal: stop.signal, silentMs: 60_000 }));
    await until(() => fake.watches.size === 1, 'the watch');
    stop.abort();
    await assert.rejects(events, { code: 'kube-cancelled' });
    await until(() => fake.watches.size === 0, 'the end of the watch');
  }));

test('closing the API ends its watches', () =>
  withLeases(async (fake, leases, api) => {
    const events = all(leases.watch({}, endless));
    await until(() => fake.watches.size === 1, 'the watch');
    api.close();
    await assert.rejects(events, { code: 'kube-cancelled' });
    await until(() => fake.watches.size === 0, 'the end of the watch');
  }));
