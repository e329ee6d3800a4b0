import assert from 'node:assert/strict';
import { it } from 'node:test';
import { agentEndpoints } from '../../src/commands/agent-endpoints.ts';
import { serveEndpoints } from '../../src/commands/serve-endpoints.ts';
import { agentMetrics } from '../../src/proxy/agent/agent-metrics.ts';
import { drain } from '../../src/proxy/wire/packets.ts';
import { startRealAgent } from '../peers/real-agent.ts';
import { until } from '../peers/sockets-left.ts';
import { TestServer, type TestServerOptions } from '../peers/test-server.ts';

const ports = { health: { host: '127.0.0.1', port: 0 }, admin: { host: '127.0.0.1', port: 0 } };

type Get = (port: 'health' | 'admin', path: string) => Promise<[number, string, Headers]>;

async function fetched(port: number, path: string): Promise<[number, string, Headers]> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual' });
  return [response.status, await response.text(), response.headers];
}

async function serving(
  options: TestServerOptions,
  run: (server: TestServer, get: Get) => Promise<void>,
  profiling = false,
): Promise<void> {
  const server = await TestServer.start(options);
  const [health, admin] = await serveEndpoints(server.server, { ...ports, profiling });
  try {
    await run(server, (port, path) => fetched((port === 'health' ? health : admin)?.port ?? 0, path));
  } finally {
    await Promise.all([health?.close(), admin?.close()]);
    await server.close();
  }
}

it('a server without agents is alive, and not ready with the reason', () =>
  serving({}, async (_server, get) => {
    assert.deepEqual((await get('health', '/healthz')).slice(0, 2), [200, 'ok']);
    for (const path of ['/readyz', '/ready']) {
      const [status, body] = await get('health', path);
      assert.deepEqual([status, body], [500, 'no agent is connected for strategy default']);
    }
  }));

it('a server with an agent is ready', () =>
  serving({}, async (server, get) => {
    await server.agent('a');
    assert.deepEqual((await get('health', '/readyz')).slice(0, 2), [200, 'ok']);
    assert.deepEqual((await get('health', '/readyz?verbose')).slice(0, 2), [
      200,
      '[+]ping ok\n[+]accepting ok\n[+]strategy-default ok (agents: 1)\n[+]agents-ready ok\ncheck passed\n',
    ]);
  }));

it('strategies that nobody serves are named', () =>
  serving({ strategies: ['default', 'destHost'] }, async (server, get) => {
    await server.agent('a');
    assert.deepEqual((await get('health', '/readyz')).slice(0, 2), [
      200,
      'ok (no agent for strategy destHost)',
    ]);
    assert.match(
      (await get('health', '/readyz?verbose'))[1],
      /\[-\]strategy-destHost failed: no agent is connected for it; the first strategy alone decides\n.*\ncheck passed/,
    );
  }));

it('the first strategy decides', () =>
  serving({ strategies: ['destHost', 'default'] }, async (server, get) => {
    await server.agent('a');
    assert.deepEqual((await get('health', '/readyz')).slice(0, 2), [
      500,
      'no agent is connected for strategy destHost',
    ]);
  }));

it('that only draining agents are left is said', () =>
  serving({}, async (server, get) => {
    const agent = await server.agent('a');
    agent.send(drain());
    await server.logged('Agent drains');
    assert.deepEqual((await get('health', '/readyz')).slice(0, 2), [200, 'ok (only draining agents)']);
    assert.match(
      (await get('health', '/readyz?verbose'))[1],
      /\[-\]agents-ready failed: only draining agents/,
    );
  }));

it('a stopping server is not ready while its tunnels run on', () =>
  serving({}, async (server, get) => {
    await server.agent('a');
    server.server.counters.establishedTunnels++;
    const stop = new AbortController();
    const stopped = server.server.shutdown(60_000, stop.signal);
    assert.deepEqual((await get('health', '/readyz')).slice(0, 2), [503, 'the server is shutting down']);
    assert.equal((await get('health', '/healthz'))[0], 200);
    server.server.counters.establishedTunnels--;
    stop.abort();
    await stopped;
  }));

it('metrics are on both ports of a server, profiles on the admin port and only when they are wanted', async () => {
  await serving({}, async (_server, get) => {
    for (const port of ['health', 'admin'] as const) {
      const [status, body, headers] = await get(port, '/metrics');
      assert.equal(status, 200);
      assert.match(body, /konnectivity_network_proxy_server_ready_backends/);
      assert.match(headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    }
    assert.equal((await get('admin', '/debug/pprof/'))[0], 404);
    assert.equal((await get('admin', '/healthz'))[0], 404);
  });
  await serving(
    {},
    async (_server, get) => {
      assert.equal((await get('admin', '/debug/pprof/'))[0], 200);
      assert.equal((await get('health', '/debug/pprof/'))[0], 404);
    },
    true,
  );
});

it('an agent is ready while it has a server, says that it leaves, and sends scrapers to the health port', async () => {
  const server = await TestServer.start();
  const { agent, stop } = await startRealAgent(server, 'a', {
    times: { leaveLingerMs: 60_000, leaveReplacedMs: 60_000 },
  });
  const metrics = agentMetrics(agent);
  const [health, admin] = await agentEndpoints(agent, metrics.registry, { ...ports, profiling: false });
  const get: Get = (port, path) => fetched((port === 'health' ? health : admin)?.port ?? 0, path);
  try {
    assert.deepEqual((await get('health', '/readyz')).slice(0, 2), [200, 'ok']);
    assert.deepEqual((await get('health', '/ready?verbose')).slice(0, 2), [
      200,
      '[+]ping ok\n[+]server-connected ok (1 of 1 servers)\n[+]draining ok (no)\ncheck passed\n',
    ]);
    const [status, , headers] = await get('admin', '/metrics?x=1');
    assert.deepEqual([status, headers.get('location')], [301, `//127.0.0.1:${health?.port}/metrics?x=1`]);
    assert.match(
      (await get('health', '/metrics'))[1],
      /konnectivity_network_proxy_agent_known_server_count 1/,
    );
    agent.leave();
    assert.match(
      (await get('health', '/readyz'))[1],
      /^ok: leaving \(since .*, 0 tunnels and 0 dials left\)$/,
    );
    await server.server.close();
    await until(() => agent.healthyStreams === 0, 'the end of the stream');
    const [failed, list] = await get('health', '/readyz');
    assert.equal(failed, 503);
    assert.match(
      list,
      /^\[\+\]ping ok\n\[-\]server-connected failed: .+\n\[\+\]draining ok \(leaving .*\)\ncheck failed\n$/,
    );
    assert.equal((await get('health', '/healthz'))[0], 200);
  } finally {
    await Promise.all([health?.close(), admin?.close()]);
    metrics.close();
    await stop();
    await server.close();
  }
});
