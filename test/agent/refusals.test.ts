import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { agentReadiness } from '../../src/proxy/agent/agent-readiness.ts';
import { Fault } from '../../src/proxy/ops/fault.ts';
import { agentCase } from '../peers/agent-case.ts';
import type { ScriptedServerOptions } from '../peers/scripted-server.ts';
import { until } from '../peers/sockets-left.ts';
import type { TestAgentOptions } from '../peers/test-agent.ts';

/** The agent cannot connect, and says why in its log and its readiness. */
function saysWhy(
  pattern: RegExp,
  server: ScriptedServerOptions,
  agent: TestAgentOptions = {},
): Promise<void> {
  return agentCase(
    async (parts) => {
      assert.match(await parts.agent.logged('Cannot connect to a server'), pattern);
      const { ready, text } = agentReadiness(parts.agent.agent, false);
      assert.equal(ready, false);
      assert.match(text, pattern);
      assert.match(text, /^\[-\]server-connected failed: /m);
    },
    server,
    agent,
    'none',
  );
}

test('a server that refuses the token is quoted', () =>
  saysWhy(
    /refused the stream: PERMISSION_DENIED: token audience is wrong; check the agent's service account/,
    {
      refuse: { code: 7, details: 'token audience is wrong' },
    },
  ));

test('the words of a refusal are not taken for those of a TLS failure', () =>
  saysWhy(/refused the stream: UNAUTHENTICATED: unable to verify token: certificate has expired/, {
    refuse: { code: 16, details: 'unable to verify token: certificate has expired' },
  }));

test('a server that cannot check the token is quoted, and its words are not taken for those of a lost connection', () =>
  saysWhy(
    /server 127\.0\.0\.1:\d+ refused the stream: UNAVAILABLE: the token cannot be checked: ECONNREFUSED; see the server's log/,
    { refuse: { code: 14, details: 'the token cannot be checked: ECONNREFUSED' } },
  ));

test('a refusal cannot write lines into the log', () =>
  saysWhy(/INVALID_ARGUMENT: a\\+u000ab/, { refuse: { code: 3, details: 'a\nb' } }));

test('a gRPC server that does not know agents is named as such', () =>
  saysWhy(/UNIMPLEMENTED.*check that the address is the agent port/, {
    refuse: { code: 12, details: 'unknown method' },
  }));

test('a server that does not say who it is is no server', () =>
  saysWhy(/did not say its serverID and serverCount; check that the address is the agent port/, {
    identity: false,
  }));

test('a server certificate of another CA is refused with words', async () => {
  await agentCase(
    async (other) => {
      await saysWhy(
        /we refuse the certificate of 127\.0\.0\.1:\d+: no CA in our bundle signed it/,
        {},
        {
          caFile: other.server.ca.certFile,
        },
      );
    },
    {},
    {},
  );
});

test('a server certificate for other names is refused with its names', () =>
  saysWhy(/we refuse the certificate of 127\.0\.0\.1:\d+: it is for DNS:elsewhere/, {
    certificate: { dns: ['elsewhere'], ips: [] },
  }));

test('a server that closes in silence, as one does that refuses our certificate, is said to do so', async () => {
  const silent = createServer((socket) => socket.destroy());
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  try {
    await saysWhy(
      /closed the connection.*it may refuse our certificate/,
      {},
      { port: (silent.address() as AddressInfo).port },
    );
  } finally {
    silent.close();
  }
});

test('a port that does not speak TLS is named as such', async () => {
  const plain = createServer((socket) => {
    socket.on('error', () => {});
    socket.resume().end('HTTP/1.1 400 Bad Request\r\n\r\n');
  });
  plain.listen(0, '127.0.0.1');
  await once(plain, 'listening');
  try {
    await saysWhy(
      /does not speak TLS; check that this is the right port/,
      {},
      {
        port: (plain.address() as AddressInfo).port,
      },
    );
  } finally {
    plain.close();
  }
});

test('a port on which nobody listens is named', async () => {
  const plain = createServer();
  plain.listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const { port } = plain.address() as AddressInfo;
  plain.close();
  await saysWhy(new RegExp(`127\\.0\\.0\\.1:${port}`), {}, { port });
});

test('the token is sent, and read anew for every attempt', () => {
  let reads = 0;
  return agentCase(
    async ({ server, agent, connect }) => {
      assert.deepEqual(connect.metadata.get('authorization'), ['Bearer token-1']);
      await until(() => agent.agent.servers.links.size === 1, 'the stream');
      connect.socket.destroy();
      assert.deepEqual((await server.connected()).metadata.get('authorization'), ['Bearer token-2']);
    },
    {},
    { token: async () => `token-${++reads}` },
  );
});

test('a token that cannot be sent is named without being printed', async () => {
  await agentCase(
    async ({ agent }) => {
      const line = await agent.logged('Cannot connect');
      assert.match(line, /the service account token is empty, or has characters that cannot be sent/);
      await until(() => agent.agent.counts.failedConnects > 2, 'more attempts');
      assert.ok(!agent.lines.all.join('').includes('secret'));
    },
    {},
    { token: async () => 'secret\nsecret' },
    'none',
  );
});

test('a failure that repeats is logged ever more rarely', () =>
  agentCase(
    async ({ agent }) => {
      await until(() => agent.agent.counts.failedConnects >= 20, 'twenty failures');
      const lines = agent.lines.all.filter((line) => line.includes('Cannot connect'));
      assert.ok(lines.length <= 5, `${lines.length} lines`);
    },
    { refuse: { code: 7, details: 'no' } },
    { times: { syncIntervalMs: 1, syncIntervalCapMs: 1 } },
    'none',
  ));

test('readiness names the check, the streams and, before the first stream, that there is none yet', () =>
  agentCase(
    async ({ agent, server }) => {
      assert.match(agentReadiness(agent.agent, false).text, /not connected yet/);
      await server.connected();
      await until(() => agent.agent.servers.links.size === 1, 'the stream');
      assert.deepEqual(agentReadiness(agent.agent, false), { ready: true, text: 'ok' });
      assert.equal(
        agentReadiness(agent.agent, true).text,
        '[+]ping ok\n[+]server-connected ok (1 of 1 servers)\n[+]draining ok (no)\ncheck passed\n',
      );
    },
    {},
    {},
    'none',
  ));

test('a new reason is said at once, one that was said before is not', () => {
  const reasons = ['a', 'a', 'b', 'a', 'b', 'c'];
  let reads = 0;
  return agentCase(
    async ({ agent }) => {
      await until(() => agent.agent.counts.failedConnects >= reasons.length, 'six failures');
      const lines = agent.lines.all.filter((line) => line.includes('Cannot connect'));
      const said = lines.map((line) => /reason-(.)/.exec(line)?.[1]).slice(0, 5);
      // 1 and 2: first and second failure; 3: new; 4: fourth; 6: new.
      assert.deepEqual(said, ['a', 'a', 'b', 'a', 'c']);
    },
    {},
    {
      token: async () => {
        throw new Fault('failed', `reason-${reasons[reads++] ?? 'c'}`);
      },
    },
    'none',
  );
});
