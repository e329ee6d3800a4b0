import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, it } from 'node:test';
import { Fault } from '../../src/proxy/ops/fault.ts';
import {
  type HttpBounds,
  type HttpEndpoints,
  type HttpHandlers,
  httpEndpoints,
} from '../../src/proxy/ops/http-endpoints.ts';
import { profilingHandlers } from '../../src/proxy/ops/profiling.ts';

let running: HttpEndpoints | undefined;

afterEach(async () => {
  await running?.close();
  running = undefined;
});

async function start(handlers: HttpHandlers, bounds?: HttpBounds): Promise<number> {
  running = await httpEndpoints('127.0.0.1', 0, '--health-port', handlers, bounds);
  return running.port;
}

const hello: HttpHandlers = {
  '/hello': ({ query, host, search }) => ({ status: 200, body: `${host}|${query.get('a') ?? ''}|${search}` }),
};

/** Sends bytes and returns everything until the end. */
async function raw(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(text);
  let answer = '';
  socket.on('data', (chunk) => {
    answer += String(chunk);
  });
  await once(socket, 'close');
  return answer;
}

const get = (port: number, path: string, init?: RequestInit): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual', ...init });

it('known paths are served with their query, unknown ones are 404', async () => {
  const port = await start(hello);
  assert.equal(await (await get(port, '/hello?a=1')).text(), '127.0.0.1|1|?a=1');
  assert.equal((await get(port, '/other')).status, 404);
  assert.equal((await get(port, '/__proto__')).status, 404);
});

it('methods other than GET and HEAD are 405', async () => {
  const port = await start(hello);
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const response = await get(port, '/hello', { method });
    assert.equal(response.status, 405);
    assert.equal(response.headers.get('allow'), 'GET, HEAD');
  }
  const head = await get(port, '/hello', { method: 'HEAD' });
  assert.deepEqual([head.status, await head.text()], [200, '']);
});

it('request targets that are no URL are 404, and serving goes on', async () => {
  const port = await start(hello);
  for (const target of ['//', 'http://[', '*', '//[::', '/%']) {
    assert.match(await raw(port, `GET ${target} HTTP/1.0\r\n\r\n`), /^HTTP\/1.1 404 /, target);
  }
  assert.equal((await get(port, '/hello')).status, 200);
});

it('a Host header that is no host is not passed on', async () => {
  const port = await start(hello);
  const answer = await raw(port, 'GET /hello HTTP/1.0\r\nHost: a"b.example/x\r\n\r\n');
  assert.match(answer, /\r\n\r\n\|\|$/);
});

it('a head beyond its bound is refused', async () => {
  const port = await start(hello);
  const answer = await raw(port, `GET /hello HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`);
  assert.match(answer, /^HTTP\/1.1 431 /);
});

it('a request that never ends is cut off', async () => {
  const port = await start(hello, { requestMs: 50, idleMs: 10_000, connections: 5 });
  assert.match(await raw(port, 'GET /hello HTTP/1.1\r\nHost: a\r\n'), /^HTTP\/1.1 408 /);
});

it('a connection on which nothing happens is closed', async () => {
  const port = await start(hello, { requestMs: 10_000, idleMs: 50, connections: 5 });
  assert.equal(await raw(port, ''), '');
});

it('connections beyond their number are closed', async () => {
  const port = await start(hello, { requestMs: 10_000, idleMs: 10_000, connections: 1 });
  const first = connect(port, '127.0.0.1');
  await once(first, 'connect');
  assert.equal(await raw(port, ''), '');
  first.destroy();
});

it('a handler that fails is 500 without a word of why', async () => {
  const port = await start({
    '/x': () => {
      throw new Error('secret');
    },
  });
  const response = await get(port, '/x');
  assert.deepEqual([response.status, await response.text()], [500, 'internal error\n']);
});

it('a port that is taken is refused with the flag', async () => {
  const port = await start(hello);
  await assert.rejects(
    httpEndpoints('127.0.0.1', port, '--admin-port', hello),
    (error) => error instanceof Fault && error.code === 'port-in-use' && /^--admin-port: /.test(error.line),
  );
});

it('a CPU profile is what developer tools read', async () => {
  const port = await start(profilingHandlers());
  const response = await get(port, '/debug/pprof/profile?seconds=0.05');
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-disposition') ?? '', /\.cpuprofile"$/);
  const profile = (await response.json()) as { nodes: unknown[]; startTime: number; endTime: number };
  assert.ok(profile.nodes.length > 0 && profile.endTime > profile.startTime);
});

it('a heap profile is what developer tools read', async () => {
  const port = await start(profilingHandlers());
  for (const name of ['heap', 'allocs']) {
    const response = await get(port, `/debug/pprof/${name}?seconds=0.05`);
    const profile = (await response.json()) as { head: { children: unknown[] } };
    assert.ok(Array.isArray(profile.head.children));
  }
});

it('one profile is taken at a time, and given up with its client', async () => {
  const port = await start(profilingHandlers());
  const client = new AbortController();
  const first = get(port, '/debug/pprof/profile?seconds=300', { signal: client.signal });
  const failed = assert.rejects(first);
  while ((await get(port, '/debug/pprof/profile?seconds=0.001')).status !== 409);
  client.abort();
  await failed;
  while ((await get(port, '/debug/pprof/profile?seconds=0.001')).status !== 200);
});

it('profiles that cannot be are refused in words', async () => {
  const port = await start(profilingHandlers());
  for (const seconds of ['0', '-1', 'x', '301']) {
    assert.equal((await get(port, `/debug/pprof/profile?seconds=${seconds}`)).status, 400, seconds);
  }
  const goroutine = await get(port, '/debug/pprof/goroutine');
  assert.equal(goroutine.status, 501);
  assert.match(await goroutine.text(), /profile of Go's runtime/);
  assert.equal((await get(port, '/debug/pprof?a=1')).headers.get('location'), '/debug/pprof/?a=1');
  assert.match(await (await get(port, '/debug/pprof/')).text(), /cpuprofile/);
});
