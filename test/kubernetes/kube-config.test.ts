import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openKubeApi } from '../../src/proxy/kubernetes/kube-api.ts';
import { KubeFault } from '../../src/proxy/kubernetes/kube-fault.ts';
import { TokenReviews } from '../../src/proxy/kubernetes/token-reviews.ts';
import { Fault } from '../../src/proxy/ops/fault.ts';
import { FakeKubeApi } from '../peers/fake-kube-api.ts';
import { Pki } from '../peers/pki.ts';

const never = new AbortController().signal;
const unlimited = { perSecond: -1, burst: 0 };

interface Parts {
  cluster?: object;
  user?: object;
  more?: object;
}

/** A kubeconfig for an API that nobody runs; text as kubectl would write it, in JSON. */
function configText(server: string, { cluster, user = { token: 't' }, more }: Parts = {}): string {
  return JSON.stringify({
    'current-context': 'x',
    clusters: [{ name: 'c', cluster: { server, ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    ...more,
  });
}

async function refusesConfig(text: string, words: RegExp): Promise<void> {
  const pki = new Pki();
  try {
    const opening = openKubeApi({ kubeconfig: pki.file('config', text), env: {} }, unlimited);
    await assert.rejects(opening, (error: unknown) => {
      assert.ok(error instanceof Fault, String(error));
      assert.match(error.line, words);
      return true;
    });
  } finally {
    pki.remove();
  }
}

const url = 'https://127.0.0.1:6443';
for (const [name, text, words] of [
  ['is empty', '', /has no users or no clusters/],
  ['is no YAML', '{{{', /--kubeconfig .* cannot be read:.*; give a kubeconfig/],
  ['is something else', 'hello', /has no users or no clusters/],
  ['has no context', configText(url, { more: { 'current-context': '' } }), /has no current-context/],
  [
    'names a context that is not there',
    configText(url, { more: { 'current-context': 'y' } }),
    /has no cluster/,
  ],
  ['names a user that is not there', configText(url, { more: { users: [] } }), /has no user/],
  ['names a server that is no URL', configText('127.0.0.1:6443'), /127\.0\.0\.1:6443, which is no URL/],
  ['names a server without TLS', configText('http://127.0.0.1:6443'), /which has no TLS; use https/],
  [
    'names a CA that is not there',
    configText(url, { cluster: { 'certificate-authority': '/no' } }),
    /ENOENT.*\/no/,
  ],
  ['holds a CA that is none', configText(url, { cluster: { 'certificate-authority-data': 'eA==' } }), /PEM/],
  [
    'holds a token with a line break',
    configText(url, { user: { token: 'a\nb' } }),
    /characters that cannot be sent/,
  ],
  [
    'names a token file that is not there',
    configText(url, { user: { tokenFile: '/no' } }),
    /\/no does not exist/,
  ],
] as const) {
  test(`a kubeconfig that ${name} is refused at the start`, () => refusesConfig(text, words));
}

test('what is in a kubeconfig that cannot be read is not printed', () =>
  refusesConfig('users: [a\nsecret: hunter2: x', /^((?!hunter2).)*$/));

test('outside a Pod and without a kubeconfig there is no API', async () => {
  await assert.rejects(openKubeApi({ kubeconfig: '', env: {} }, unlimited), {
    code: 'kube-config',
    message: /this process is in no Pod/,
  });
});

async function sendsToken(fake: FakeKubeApi, api: Awaited<ReturnType<typeof openKubeApi>>): Promise<string> {
  await new TokenReviews(api).create('t', [], never).catch(() => {});
  return String(fake.requests.all.at(-1)?.authorization);
}

test('a token file is read anew for each request, relative to its kubeconfig', async () => {
  const fake = await FakeKubeApi.start();
  const file = fake.pki.file('token', `${fake.token}\n`);
  const cluster = { 'certificate-authority': fake.caFile };
  const text = configText(fake.url, { cluster, user: { tokenFile: 'token' } });
  const api = await openKubeApi({ kubeconfig: fake.pki.file('config', text), env: {} }, unlimited);
  assert.equal(await sendsToken(fake, api), `Bearer ${fake.token}`);
  writeFileSync(file, ' second ');
  assert.equal(await sendsToken(fake, api), 'Bearer second');
  rmSync(file);
  await assert.rejects(new TokenReviews(api).create('t', [], never), (error: unknown) => {
    assert.ok(error instanceof KubeFault);
    assert.equal(error.code, 'kube-credentials');
    assert.match(
      error.message,
      /no credentials for the Kubernetes API: token of --kubeconfig .* does not exist/,
    );
    return true;
  });
  api.close();
  await fake.close();
});

test('a Pod uses the CA and the token of its service account', async () => {
  const fake = await FakeKubeApi.start();
  const serviceAccountDirectory = join(fake.pki.directory, 'account');
  mkdirSync(serviceAccountDirectory);
  copyFileSync(fake.caFile, join(serviceAccountDirectory, 'ca.crt'));
  writeFileSync(join(serviceAccountDirectory, 'token'), fake.token);
  const { hostname, port } = new URL(fake.url);
  const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
  const api = await openKubeApi({ kubeconfig: '', env, serviceAccountDirectory }, unlimited);
  assert.equal(await sendsToken(fake, api), `Bearer ${fake.token}`);
  assert.equal(fake.reviews.length, 1);
  api.close();
  await fake.close();
});

test('a credential plug-in is asked for the token', async () => {
  const fake = await FakeKubeApi.start();
  const credential = {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token: fake.token },
  };
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: 'echo',
    args: [JSON.stringify(credential)],
  };
  const text = configText(fake.url, { cluster: { 'certificate-authority': fake.caFile }, user: { exec } });
  const api = await openKubeApi({ kubeconfig: fake.pki.file('config', text), env: {} }, unlimited);
  assert.equal(await sendsToken(fake, api), `Bearer ${fake.token}`);
  api.close();
  await fake.close();
});

test('a CA that is replaced is used, and nothing is trusted because of the environment', async () => {
  const fake = await FakeKubeApi.start();
  const other = await fake.pki.authority('another');
  const ca = fake.pki.file('ca.crt', other.cert);
  const text = configText(fake.url, {
    cluster: { 'certificate-authority': ca },
    user: { token: fake.token },
  });
  const api = await openKubeApi({ kubeconfig: fake.pki.file('config', text), env: {} }, unlimited);
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  await assert.rejects(new TokenReviews(api).create('t', [], never), { code: 'kube-unreachable' });
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  copyFileSync(fake.caFile, ca);
  await new TokenReviews(api).create('t', [], never);
  api.close();
  await fake.close();
});
