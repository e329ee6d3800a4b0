import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { AgentTokens, type AgentTokensOptions } from '../../src/proxy/kubernetes/agent-tokens.ts';
import { type KubeApiOptions, openKubeApi } from '../../src/proxy/kubernetes/kube-api.ts';
import { TokenReviews } from '../../src/proxy/kubernetes/token-reviews.ts';
import { blankStatus, PacketType } from '../../src/proxy/wire/packet.ts';
import { dialRequest, status as statusPacket } from '../../src/proxy/wire/packets.ts';
import { RpcError } from '../../src/proxy/wire/rpc-error.ts';
import { deferred } from '../peers/deferred.ts';
import { FakeKubeApi, type ReviewStatus } from '../peers/fake-kube-api.ts';
import { refusal } from '../peers/kube/status.ts';
import { until } from '../peers/sockets-left.ts';
import { TestServer } from '../peers/test-server.ts';

const policy = { namespace: 'kube-system', serviceAccount: 'konnectivity-agent', audience: 'konnectivity' };
const accepted: ReviewStatus = {
  authenticated: true,
  user: { username: 'system:serviceaccount:kube-system:konnectivity-agent' },
  audiences: ['konnectivity'],
};

interface Parts {
  readonly fake: FakeKubeApi;
  readonly server: TestServer;
  readonly tokens: AgentTokens;
  /** Connects with that token; the RpcError when that is refused. */
  refuses(token?: string): Promise<RpcError>;
}

async function withTokens(
  run: (parts: Parts) => Promise<void>,
  kube: Partial<KubeApiOptions> = {},
  options: Partial<AgentTokensOptions> = {},
): Promise<void> {
  const fake = await FakeKubeApi.start();
  fake.review = ({ token }) =>
    token === 'good' ? accepted : { authenticated: false, error: 'no such token' };
  const config = { kubeconfig: fake.kubeconfig(), env: {} };
  const api = await openKubeApi(config, { perSecond: -1, burst: 0, ...kube });
  const tokens = new AgentTokens({ policy, reviews: new TokenReviews(api), ...options });
  const server = await TestServer.start({ authenticator: tokens });
  try {
    await run({
      fake,
      server,
      tokens,
      refuses: async (token) => {
        const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
        const error = await server.connect('agent-1', authorization).then(
          () => assert.fail('it was accepted'),
          (reason: unknown) => reason,
        );
        assert.ok(error instanceof RpcError, String(error));
        assert.equal(error.fromServer, true);
        assert.equal(server.server.backends.size, 0);
        return error;
      },
    });
    assert.equal(tokens.pending, 0);
  } finally {
    await server.close();
    api.close();
    await fake.close();
  }
}

test('an agent with the right token serves dials', () =>
  withTokens(async ({ server }) => {
    const agent = await server.agent('agent-1', { authorization: 'Bearer good' });
    const frontend = server.frontend();
    frontend.send(dialRequest(7n, '10.0.0.1:80'));
    assert.equal(
      (await agent.packets.next(({ type }) => type === PacketType.DIAL_REQ)).address,
      '10.0.0.1:80',
    );
  }));

test('a Go agent with the right token is registered', () =>
  withTokens(async ({ server }) => {
    await server.agent('agent-1', { authorization: 'Bearer good', kind: 'go' });
    assert.equal(server.server.backends.size, 1);
  }));

for (const [name, verdict, code, words] of [
  [
    'garbage',
    { authenticated: false, error: 'invalid bearer token' },
    'UNAUTHENTICATED',
    /invalid bearer token/,
  ],
  ['for another audience', { ...accepted, audiences: ['x'] }, 'UNAUTHENTICATED', /audience konnectivity/],
  [
    'of another account',
    { ...accepted, user: { username: 'system:serviceaccount:kube-system:other' } },
    'PERMISSION_DENIED',
    /belongs to system:serviceaccount:kube-system:other/,
  ],
  [
    'of another namespace',
    { ...accepted, user: { username: 'system:serviceaccount:default:konnectivity-agent' } },
    'PERMISSION_DENIED',
    /belongs to system:serviceaccount:default/,
  ],
] as const) {
  test(`a token that is ${name} is refused as ${code}, and the reason is in the log`, () =>
    withTokens(async ({ fake, server, refuses }) => {
      fake.review = () => verdict;
      const error = await refuses('SECRET.TOKEN');
      assert.equal(error.code, status[code]);
      assert.match(error.details, words);
      assert.match(await server.logged('Refused an agent'), words);
      assert.ok(!`${server.lines.all.join('')}${error.details}`.includes('SECRET'));
    }));
}

test('an agent without a token is refused without asking the API', () =>
  withTokens(async ({ fake, refuses }) => {
    const error = await refuses();
    assert.equal(error.code, status.UNAUTHENTICATED);
    assert.match(error.details, /no token was sent/);
    assert.equal(fake.requests.all.length, 0);
  }));

for (const [name, fault, words] of [
  [
    'does not know us',
    refusal(401, 'Unauthorized'),
    /does not accept our credentials \(HTTP 401: Unauthorized\)/,
  ],
  ['does not let us ask', refusal(403, 'tokenreviews is forbidden'), /HTTP 403: tokenreviews is forbidden/],
  [
    'has too many requests',
    refusal(429, 'later', { retryAfterSeconds: 60 }),
    /too many requests \(HTTP 429: later\)/,
  ],
  ['fails', refusal(500, 'etcd is away'), /HTTP 500: etcd is away/],
  ['cuts the connection', 'reset', /cannot be reached: .*closed the connection/],
  ['answers nonsense', 'garbage', /no JSON object/],
] as const) {
  test(`while the API ${name}, agents are asked to come again, with the reason`, () =>
    withTokens(async ({ fake, server, refuses }) => {
      fake.faults.add('create', 'tokenreviews', fault);
      const error = await refuses('good');
      assert.equal(error.code, status.UNAVAILABLE);
      assert.match(error.details, /^the token cannot be checked: the .*Kubernetes API/);
      assert.match(error.details, words);
      assert.match(await server.logged('Refused an agent'), words);
    }));
}

test('an API that does not answer makes agents wait no longer than its time-out', () =>
  withTokens(
    async ({ fake, refuses }) => {
      fake.faults.add('create', 'tokenreviews', 'hang');
      assert.match((await refuses('good')).details, /gave no answer within 0.05 s/);
    },
    { timeoutMs: 50 },
  ));

test('while the API is down known tokens are taken and others not; once it is up, all right ones', () =>
  withTokens(async ({ fake, server, refuses }) => {
    fake.review = () => accepted;
    (await server.agent('agent-0', { authorization: 'Bearer known' })).stream.abort(1, 'bye');
    await until(() => server.server.backends.size === 0, 'the end of the agent');
    await fake.refuse();
    assert.match((await refuses('other')).details, /nothing listens on https:\/\/127\.0\.0\.1/);
    await server.agent('agent-0', { authorization: 'Bearer known' });
    await fake.listen();
    await server.agent('agent-2', { authorization: 'Bearer other' });
    assert.equal(server.server.backends.size, 2);
  }));

test('a thousand agents with one token at once are one review', () =>
  withTokens(async ({ fake, server }) => {
    const verdict = deferred<ReviewStatus>();
    fake.review = () => verdict.promise;
    const client = server.agentClient();
    const connects = Array.from({ length: 1000 }, (_, index) =>
      server.connect(`agent-${index}`, { authorization: 'Bearer good' }, client),
    );
    await fake.requested('create', 'tokenreviews');
    verdict.resolve(accepted);
    await Promise.all(connects);
    await until(() => server.server.backends.size === 1000, 'all agents');
    assert.equal(fake.reviews.length, 1);
  }));

for (const publicStreams of [false, true]) {
  test(`what an agent sends before the verdict is neither read early nor lost (public streams: ${publicStreams})`, async () => {
    const verdict = deferred<{ kind: 'accepted' }>();
    const asked = deferred<void>();
    const check = async () => {
      asked.resolve();
      return verdict.promise;
    };
    const server = await TestServer.start({ authenticator: { check }, publicStreams });
    try {
      // The raw call of grpc-js: our own streams wait for the headers of the server.
      const call = server.rawConnect('agent-1');
      const leaving = { ...blankStatus(), leaving: true };
      call.write(statusPacket(leaving));
      await asked.promise;
      assert.equal(server.server.backends.size, 0);
      verdict.resolve({ kind: 'accepted' });
      await server.logged('Agent drains');
      const lines = server.lines.all.join('');
      assert.ok(lines.indexOf('Agent connected') < lines.indexOf('Agent drains'));
      call.cancel();
    } finally {
      await server.close();
    }
  });
}

test('an agent that goes while it is checked is dropped, and the review with it', () =>
  withTokens(
    async ({ fake, server, tokens }) => {
      fake.faults.add('create', 'tokenreviews', 'hang');
      const stop = new AbortController();
      const connecting = server.connect('agent-1', { authorization: 'Bearer good', signal: stop.signal });
      await fake.requested('create', 'tokenreviews');
      stop.abort();
      await assert.rejects(connecting, RpcError);
      await until(() => tokens.pending === 0, 'the end of the review');
      assert.equal(server.server.backends.size, 0);
      assert.ok(!server.lines.all.join('').includes('agent-1'));
    },
    { timeoutMs: 600_000 },
  ));

test('a server that stops lets nobody in whose verdict comes after it', () =>
  withTokens(async ({ fake, server }) => {
    const verdict = deferred<ReviewStatus>();
    fake.review = () => verdict.promise;
    const connecting = server.connect('agent-1', { authorization: 'Bearer good' });
    await fake.requested('create', 'tokenreviews');
    void connecting.catch(() => {});
    await server.server.close();
    verdict.resolve(accepted);
    await assert.rejects(connecting, RpcError);
    assert.equal(server.server.backends.size, 0);
  }));

test('a flood of refused agents writes one line, and a count', () =>
  withTokens(async ({ server, refuses }) => {
    for (let index = 0; index < 20; index++) await refuses(`bad-${index}`);
    assert.equal(server.lines.all.filter((line) => line.includes('Refused an agent')).length, 1);
  }));

test('a bug in the check lets nobody in and kills nobody', async () => {
  const server = await TestServer.start({
    authenticator: {
      check: async () => {
        throw new TypeError('bug');
      },
    },
  });
  try {
    await assert.rejects(server.connect('agent-1'), { code: status.UNAVAILABLE, details: /internal error/ });
    await server.logged('Checking an agent failed');
  } finally {
    await server.close();
  }
});
