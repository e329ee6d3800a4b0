import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { describe, it } from 'node:test';
import type { TunnelMode } from '../../src/proxy/client/tunnel-server.ts';
import { encodeFrame } from '../../src/proxy/wire/encode.ts';
import { dialRequest } from '../../src/proxy/wire/packets.ts';
import { PROXY_PATH } from '../../src/proxy/wire/services.ts';
import { openBlackHole } from '../peers/black-hole.ts';
import { deferred } from '../peers/deferred.ts';
import { startDnsServer } from '../peers/dns-server.ts';
import type { RealAgentOptions } from '../peers/real-agent.ts';
import { noSocketsLeft, openSockets, until } from '../peers/sockets-left.ts';
import { type Destination, startDestination, startTunnel, type TestTunnel } from '../peers/tunnel.ts';

const MIB = 1024 * 1024;
/** So much waits for a reader only when the kernel's buffers before it are full. */
const WAITING = 128 * 1024;
const MODES = ['http-connect', 'grpc'] as const;

/** Runs a test on a server with one agent, and checks that nothing stays of it. */
async function through(
  run: (tunnels: TestTunnel) => Promise<void>,
  options: RealAgentOptions = {},
): Promise<void> {
  const before = openSockets();
  const tunnels = await startTunnel({ agents: { a: options } });
  const { server } = tunnels.server;
  const agent = tunnels.agents.get('a')?.agent;
  try {
    await run(tunnels);
    await until(() => server.counters.establishedTunnels + server.counters.pendingDials === 0, 'no tunnel');
    await until(() => server.counters.grpcFrontends + server.counters.connectFrontends === 0, 'no client');
    await until(() => agent?.counts.openEndpoints === 0, 'no endpoint');
    assert.ok(server.buffers.heldBytes + server.buffers.promisedBytes < 1);
    assert.ok((agent?.buffers.heldBytes ?? 0) + (agent?.buffers.promisedBytes ?? 0) < 1);
  } finally {
    await tunnels.close();
  }
  await noSocketsLeft(before);
}

const echo = (): Promise<Destination> => startDestination((socket) => socket.pipe(socket));

/** Sends a word through an open tunnel and reads it back. */
async function answers(tunnel: Duplex, word: string): Promise<void> {
  tunnel.write(word);
  let heard = '';
  while (heard.length < word.length) {
    const chunk: Buffer | null = tunnel.read();
    if (chunk === null) await once(tunnel, 'readable');
    else heard += chunk.toString();
  }
  assert.equal(heard, word);
}

for (const mode of MODES) {
  describe(`beside others by ${mode}`, () => {
    it('a client that stops reading stalls its own tunnel alone, and leaves the agent as new', () =>
      through(async (tunnels) => {
        const good = await echo();
        const sender = deferred<Socket>();
        const flood = await startDestination((socket) => {
          socket.write(Buffer.alloc(64 * MIB));
          sender.resolve(socket);
        });
        const alive = await tunnels.dial(mode, good.address);
        const stuck = await tunnels.dial(mode, flood.address);
        const socket = await sender.promise;
        await until(() => tunnels.server.server.buffers.heldBytes > WAITING, 'bytes wait for the client');
        await answers(alive, 'as before');
        assert.ok(socket.writableLength > 16 * MIB, 'what nobody reads stays with its sender');
        const closed = new Promise((resolve) => socket.once('close', resolve));
        stuck.destroy();
        await closed;
        await answers(alive, 'and after it');
        const next = await tunnels.dial(mode, good.address);
        await answers(next, 'a new one, too');
        for (const one of [alive, next]) one.destroy();
        for (const one of [good, flood]) one.close();
      }));

    it('a destination that stops reading stalls its own tunnel alone, and leaves the agent as new', () =>
      through(async (tunnels) => {
        const good = await echo();
        const deaf = await startDestination((socket) => socket.pause());
        const alive = await tunnels.dial(mode, good.address);
        const stuck = await tunnels.dial(mode, deaf.address);
        const upload = Buffer.alloc(64 * 1024);
        for (let i = 0; i < 1024; i++) stuck.write(upload);
        const agent = tunnels.agents.get('a')?.agent;
        await until(() => (agent?.buffers.heldBytes ?? 0) > WAITING, 'bytes wait for the destination');
        await answers(alive, 'as before');
        assert.ok(stuck.writableLength > 16 * MIB, 'what nobody reads stays with its sender');
        stuck.destroy();
        deaf.close();
        await answers(alive, 'and after it');
        const next = await tunnels.dial(mode, good.address);
        await answers(next, 'a new one, too');
        for (const one of [alive, next]) one.destroy();
        good.close();
      }));
  });
}

it('a gRPC client that is full and gives up, as the Go client does after 10 s, ends its own tunnel alone', () =>
  through(async (tunnels) => {
    const { server, grpcPath } = tunnels.server;
    const good = await echo();
    const sender = deferred<Socket>();
    const flood = await startDestination((socket) => {
      socket.write(Buffer.alloc(16 * MIB));
      sender.resolve(socket);
    });
    const alive = await tunnels.dial('grpc', good.address);
    const client = connectHttp2('http://localhost', { createConnection: () => connectTo(grpcPath) });
    client.on('error', () => {});
    const call = client.request({
      ':method': 'POST',
      ':path': PROXY_PATH,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    call.on('error', () => {}).write(encodeFrame(dialRequest(7n, flood.address)));
    const socket = await sender.promise;
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await until(() => server.buffers.heldBytes > WAITING, 'bytes wait for the client');
    const ended = (): [string, number][] =>
      [...server.counters.closedTunnels].filter(([, count]) => count > 0);
    assert.deepEqual(ended(), []);
    // GOAWAY, and the connection is closed: what Go's ClientConn.Close() does.
    client.destroy();
    await closed;
    assert.deepEqual(ended(), [['frontend-lost', 1]]);
    await answers(alive, 'as before');
    alive.destroy();
    for (const one of [good, flood]) one.close();
  }));

it('50 dials of names whose name server is silent delay neither another name nor an address', async () => {
  const dns = await startDnsServer({ records: { 'good.test': ['127.0.0.1'] }, silent: /silent/ });
  try {
    await through(
      async (tunnels) => {
        const good = await echo();
        const clients = Array.from({ length: 50 }, (_, i) => {
          const client = connectTo(tunnels.server.connectPath);
          client.on('error', () => {}).write(`CONNECT n${i}.silent.test:80 HTTP/1.1\r\nHost: x\r\n\r\n`);
          return client;
        });
        // Both families of each.
        await dns.asked(/silent/, 100);
        const agent = tunnels.agents.get('a')?.agent;
        for (const address of [good.address, good.address.replace('127.0.0.1', 'good.test')]) {
          for (const mode of MODES) {
            const tunnel = await tunnels.dial(mode, address);
            await answers(tunnel, 'at once');
            tunnel.destroy();
          }
        }
        assert.equal(agent?.status.pendingDials, 50);
        for (const client of clients) client.destroy();
        await until(() => agent?.status.pendingDials === 0, 'the look-ups are given up');
        good.close();
      },
      { nameServer: dns.address },
    );
  } finally {
    await dns.close();
  }
});

it('500 dials of a black hole delay no other, and end when their clients go', () =>
  through(async (tunnels) => {
    const hole = await openBlackHole('127.0.0.1');
    const good = await echo();
    const clients = Array.from({ length: 500 }, () => {
      const client = connectTo(tunnels.server.connectPath);
      client.on('error', () => {}).write(`CONNECT 127.0.0.1:${hole.port} HTTP/1.1\r\nHost: x\r\n\r\n`);
      return client;
    });
    const agent = tunnels.agents.get('a')?.agent;
    await until(() => agent?.status.pendingDials === 500, 'all 500 are being connected');
    for (const mode of MODES) {
      const tunnel = await tunnels.dial(mode, good.address);
      await answers(tunnel, 'at once');
      tunnel.destroy();
    }
    assert.equal(agent?.status.pendingDials, 500);
    for (const client of clients) client.destroy();
    await until(() => agent?.status.pendingDials === 0, 'the connects are given up');
    good.close();
    await hole.close();
  }));

it('200 downloads that are broken off leave nothing, and the next one works at once', () =>
  through(async (tunnels) => {
    const bytes = Buffer.alloc(4 * MIB);
    const flood = await startDestination((socket) => {
      socket.write(bytes);
    });
    const whole = Buffer.alloc(4 * MIB, 'whole');
    const good = await startDestination((socket) => socket.end(whole));
    const readLittle = async (mode: TunnelMode): Promise<void> => {
      for (let i = 0; i < 50; i++) {
        const tunnel = await tunnels.dial(mode, flood.address);
        await once(tunnel, 'readable');
        tunnel.read();
        tunnel.destroy();
      }
    };
    await Promise.all([...MODES, ...MODES].map(readLittle));
    const chunks: Buffer[] = [];
    const last = await tunnels.dial('http-connect', good.address);
    for await (const chunk of last) chunks.push(chunk);
    // Node 24 leaves it half-open.
    last.destroy();
    assert.ok(Buffer.concat(chunks).equals(whole));
    for (const one of [flood, good]) one.close();
  }));
