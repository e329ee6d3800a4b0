import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import {
  createKubeApi,
  type KubeApi,
  type KubeApiOptions,
  openKubeApi,
} from '../../src/proxy/kubernetes/kube-api.ts';
import { KubeFault } from '../../src/proxy/kubernetes/kube-fault.ts';
import { TokenReviews } from '../../src/proxy/kubernetes/token-reviews.ts';
import { FakeKubeApi } from '../peers/fake-kube-api.ts';
import { refusal } from '../peers/kube/status.ts';
import { Pki } from '../peers/pki.ts';

const never = new AbortController().signal;
const unlimited = { perSecond: -1, burst: 0 };

interface Case {
  readonly fake: FakeKubeApi;
  readonly api: KubeApi;
  review(signal?: AbortSignal): Promise<unknown>;
}

async function withApi(
  run: (parts: Case) => Promise<void>,
  options: Partial<KubeApiOptions> = {},
): Promise<void> {
  const fake = await FakeKubeApi.start();
  const api = await openKubeApi({ kubeconfig: fake.kubeconfig(), env: {} }, { ...unlimited, ...options });
  try {
    const reviews = new TokenReviews(api);
    await run({ fake, api, review: (signal = never) => reviews.create('a.b.c', ['us'], signal) });
  } finally {
    api.close();
    await fake.close();
  }
}

async function fails(work: Promise<unknown>, code: string, words: RegExp): Promise<KubeFault> {
  const fault = await work.then(
    () => assert.fail('it succeeded'),
    (error: unknown) => error,
  );
  assert.ok(fault instanceof KubeFault, String(fault));
  assert.equal(fault.code, code);
  assert.match(fault.line, words);
  return fault;
}

test('a review carries token, audiences and our own credentials, and brings the verdict', () =>
  withApi(async ({ fake, review }) => {
    fake.review = () => ({ authenticated: true, user: { username: 'u' }, audiences: ['us'] });
    assert.deepEqual(await review(), {
      status: 201,
      body: { authenticated: true, user: { username: 'u' }, audiences: ['us'] },
    });
    assert.deepEqual(fake.reviews, [{ token: 'a.b.c', audiences: ['us'] }]);
    assert.equal(fake.requests.all[0]?.authorization, `Bearer ${fake.token}`);
  }));

for (const [status, code, words] of [
  [
    401,
    'kube-unauthorized',
    /does not accept our credentials \(HTTP 401: words\); check the user of --kubeconfig/,
  ],
  [403, 'kube-forbidden', /does not allow us this \(HTTP 403: words\); give our account the right/],
  [404, 'kube-not-found', /HTTP 404: words/],
  [409, 'kube-conflict', /changed by somebody else/],
  [410, 'kube-gone', /no longer has that version/],
  [422, 'kube-refused', /HTTP 422: words/],
  [429, 'kube-throttled', /too many requests/],
  [500, 'kube-server-error', /HTTP 500: words/],
  [503, 'kube-server-error', /HTTP 503: words/],
] as const) {
  test(`an answer of ${status} is told with the words of the API, its code and its reason`, () =>
    withApi(async ({ fake, review }) => {
      fake.faults.add('create', 'tokenreviews', refusal(status, 'words'));
      const fault = await fails(review(), code, words);
      assert.equal(fault.httpStatus, status);
      assert.equal(fault.kubeReason, refusal(status, '').reason);
    }));
}

test('a request that came too often is sent again when the API says', () =>
  withApi(async ({ fake, review }) => {
    fake.faults.add('create', 'tokenreviews', refusal(429, 'later', { retryAfterSeconds: 0 }), 2);
    await review();
    assert.equal(fake.count('create', 'tokenreviews'), 3);
  }));

test('an API that wants to be left alone for longer than a request may take is left alone', () =>
  withApi(async ({ fake, review }) => {
    const fault = refusal(429, 'much later', { retryAfterSeconds: 60 });
    fake.faults.add('create', 'tokenreviews', fault);
    assert.equal((await fails(review(), 'kube-throttled', /much later/)).retryAfterMs, 60_000);
    await fails(review(), 'kube-throttled', /left alone for 30 s/);
    assert.equal(fake.count('create', 'tokenreviews'), 1);
  }));

test('requests beyond the burst that would wait for too long are refused at once', () =>
  withApi(
    async ({ fake, review }) => {
      const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => review()));
      const refusedOnes = outcomes.filter((one) => one.status === 'rejected');
      assert.equal(fake.count('create', 'tokenreviews'), 2);
      assert.equal(refusedOnes.length, 3);
      await fails(review(), 'kube-busy', /limit of 0.001 a second can be raised \(--kubeconfig-qps\)/);
    },
    { perSecond: 0.001, burst: 2 },
  ));

for (const where of ['the token under review', 'our own token'] as const) {
  test(`an API that repeats ${where} in a refusal does not bring it into words`, () =>
    withApi(async ({ fake, review }) => {
      const secret = where === 'our own token' ? fake.token : 'a.b.c';
      const long = `${'x'.repeat(295)} ${secret}`;
      for (const words of [`token ${secret} is refused`, long]) {
        const clear = fake.faults.add('create', 'tokenreviews', refusal(422, words));
        const fault = await fails(review(), 'kube-refused', /<tok/);
        assert.doesNotMatch(fault.line, new RegExp(secret.slice(0, 4)));
        clear();
      }
    }));
}

test('a switch of protocols that nobody asked for ends the request', async () => {
  const pki = new Pki();
  const ca = await pki.authority('kube CA');
  const { cert, key } = await pki.server(ca);
  const server = createTlsServer({ cert, key }, (socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const credentials = async () => ({
    headers: {},
    tls: { ca: ca.cert, rejectUnauthorized: true },
    proxy: undefined,
  });
  const api = createKubeApi({ server: url, credentials }, unlimited);
  try {
    await fails(api.request('GET', '/x', { signal: never }), 'kube-bad-answer', /without an answer/);
  } finally {
    api.close();
    server.close();
    pki.remove();
  }
});

test('a connection that is cut is told as that', () =>
  withApi(async ({ fake, review }) => {
    fake.faults.add('create', 'tokenreviews', 'reset');
    const fault = await fails(review(), 'kube-unreachable', /cannot be reached: .*closed the connection/);
    assert.equal(fault.httpStatus, undefined);
  }));

test('a kept connection that the API ended is replaced', () =>
  withApi(async ({ fake, review }) => {
    await review();
    fake.cutAll();
    await review();
    assert.equal(fake.reviews.length, 2);
  }));

test('an API that is down is told as that, and is found again when it is up', () =>
  withApi(async ({ fake, review }) => {
    await fake.refuse();
    await fails(review(), 'kube-unreachable', /nothing listens on https:\/\/127\.0\.0\.1:\d+/);
    await fake.listen();
    await review();
  }));

test('an API that does not answer is given up after the time-out', () =>
  withApi(
    async ({ fake, review }) => {
      fake.faults.add('create', 'tokenreviews', 'hang');
      await fails(review(), 'kube-timeout', /gave no answer within 0.05 s/);
    },
    { timeoutMs: 50 },
  ));

test('a caller that gives up is told at once', () =>
  withApi(async ({ fake, review }) => {
    fake.faults.add('create', 'tokenreviews', 'hang');
    const stop = new AbortController();
    const waiting = review(stop.signal);
    await fake.requested('create', 'tokenreviews');
    stop.abort();
    await fails(waiting, 'kube-cancelled', /given up/);
  }));

test('closing ends what is under way', () =>
  withApi(async ({ fake, api, review }) => {
    fake.faults.add('create', 'tokenreviews', 'hang');
    const waiting = review();
    await fake.requested('create', 'tokenreviews');
    api.close();
    await fails(waiting, 'kube-cancelled', /given up/);
  }));

test('an answer that is no JSON is told as that', () =>
  withApi(async ({ fake, review }) => {
    fake.faults.add('create', 'tokenreviews', 'garbage');
    await fails(review(), 'kube-bad-answer', /no JSON object; check that the server of the kubeconfig/);
  }));

test('a certificate of another CA is refused with words', async () => {
  const fake = await FakeKubeApi.start();
  const other = await fake.pki.authority('another CA');
  const config = { kubeconfig: fake.kubeconfig(fake.token, other.certFile), env: {} };
  const api = await openKubeApi(config, unlimited);
  const review = new TokenReviews(api).create('t', [], never);
  await fails(
    review,
    'kube-unreachable',
    /we refuse the certificate of https.*no CA in our bundle signed it/,
  );
  assert.equal(fake.requests.all.length, 0);
  api.close();
  await fake.close();
});

test('a name that cannot be resolved is told as that', async () => {
  const pki = new Pki();
  const ca = await pki.authority('CA');
  const cluster = { server: 'https://kube.test:6443', 'certificate-authority': ca.certFile };
  const config = {
    'current-context': 'x',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: { token: 't' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  };
  const api = await openKubeApi(
    { kubeconfig: pki.file('config', JSON.stringify(config)), env: {} },
    {
      ...unlimited,
      lookup: (_name, _options, done) =>
        done(Object.assign(new Error('getaddrinfo ENOTFOUND kube.test'), { code: 'ENOTFOUND' }), []),
    },
  );
  const review = new TokenReviews(api).create('t', [], never);
  await fails(review, 'kube-unreachable', /the name in https:\/\/kube\.test:6443 cannot be resolved/);
  api.close();
  pki.remove();
});

test('a port that does not speak TLS is told as that', async () => {
  const sockets: Socket[] = [];
  const plain = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {}).end('SSH-2.0-x\r\n');
  });
  plain.listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const fake = await FakeKubeApi.start();
  const { port } = plain.address() as AddressInfo;
  const kubeconfig = fake.kubeconfig();
  writeFileSync(kubeconfig, readFileSync(kubeconfig, 'utf8').replace(fake.url, `https://127.0.0.1:${port}`));
  const api = await openKubeApi({ kubeconfig, env: {} }, unlimited);
  await fails(new TokenReviews(api).create('t', [], never), 'kube-unreachable', /does not speak TLS/);
  api.close();
  for (const socket of sockets) socket.destroy();
  plain.close();
  await fake.close();
});
