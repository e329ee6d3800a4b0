import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { afterEach, describe, it } from 'node:test';
import { INITIAL_WINDOW_BYTES } from '../../src/proxy/wire/flow.ts';
import { PacketType } from '../../src/proxy/wire/packet.ts';
import { dialResponse, window } from '../../src/proxy/wire/packets.ts';
import { readHead, received, requestConnect } from '../peers/connect-request.ts';
import type { ScriptedStream } from '../peers/scripted-stream.ts';
import { TestServer, type TestServerOptions } from '../peers/test-server.ts';
import { type Destination, startDestination, startTunnel, type TestTunnel } from '../peers/tunnel.ts';

const FEATURES = 'ping,status,flow,half-close';
let running: TestServer | undefined;
let tunnels: TestTunnel | undefined;
let destination: Destination | undefined;

afterEach(async () => {
  const server = running ?? tunnels?.server;
  destination?.close();
  await tunnels?.close();
  await running?.close();
  assert.equal(server?.server.counters.establishedTunnels ?? 0, 0);
  assert.equal(server?.server.buffers.heldBytes ?? 0, 0);
  [running, tunnels, destination] = [undefined, undefined, undefined];
});

async function tunnel(features: string, options: TestServerOptions = {}) {
  const server = await TestServer.start(options);
  running = server;
  const agent: ScriptedStream = await server.agent('a', { features });
  const socket = await server.connectSocket();
  requestConnect(socket, '10.0.0.1:80');
  const request = await agent.next(PacketType.DIAL_REQ);
  agent.send(dialResponse(request.dialId, 1));
  await readHead(socket);
  return { server, agent, socket };
}

describe('a CONNECT client that ends its side', () => {
  it('still gets the answer of the destination', async () => {
    destination = await startDestination((socket) => {
      const hash = createHash('sha256');
      socket.on('data', (chunk) => hash.update(chunk));
      socket.on('end', () => socket.end(hash.digest('hex')));
    });
    tunnels = await startTunnel();
    const sent = Buffer.alloc(3_000_000, 'request');
    const client = await tunnels.dial('http-connect', destination.address);
    client.end(sent);
    let answer = '';
    client.on('data', (chunk) => {
      answer += chunk;
    });
    await once(client, 'end');
    assert.equal(answer, createHash('sha256').update(sent).digest('hex'));
    assert.equal(tunnels.server.server.counters.closedTunnels.get('endpoint-closed'), 1);
  });

  it('is passed on as HALF_CLOSE, behind all that it sent, and the tunnel stays', async () => {
    const { server, agent, socket } = await tunnel(FEATURES);
    socket.end('last words');
    assert.equal((await agent.next(PacketType.HALF_CLOSE)).connectId, 1);
    assert.equal(agent.received.toString(), 'last words');
    assert.equal(server.server.counters.establishedTunnels, 1);
  });

  it('ends its tunnel when the agent knows no half-close', async () => {
    const { agent, socket } = await tunnel('ping,status,flow');
    socket.end('last words');
    await agent.next(PacketType.CLOSE_REQ);
    assert.ok(!agent.packets.all.some((packet) => packet.type === PacketType.HALF_CLOSE));
  });

  it('loses its tunnel when the destination says nothing for the time allowed', async () => {
    const { server, agent, socket } = await tunnel(FEATURES, { times: { halfCloseTimeoutMs: 20 } });
    const all = received(socket);
    socket.end();
    const close = await agent.next(PacketType.CLOSE_REQ);
    assert.equal(close.amount, 1);
    await all;
    assert.equal(server.server.counters.closedTunnels.get('half-close-timeout'), 1);
  });

  it('keeps its tunnel while the destination takes what it sent, however long the whole takes', async (t) => {
    const { server, agent, socket } = await tunnel(FEATURES, {
      times: { halfCloseTimeoutMs: 300, peekMs: 1 },
    });
    const { closedTunnels } = server.server.counters;
    socket.on('data', () => {}).end(Buffer.alloc(4 * INITIAL_WINDOW_BYTES));
    const takes = setInterval(() => agent.send(window(1, 1_000)), 1);
    t.after(() => clearInterval(takes));
    // How long that is, others tell, of which nothing is taken.
    for (let cuts = 1; cuts <= 3; cuts++) {
      const silent = await server.connectSocket();
      requestConnect(silent, '10.0.0.1:80');
      agent.send(dialResponse((await agent.next(PacketType.DIAL_REQ)).dialId, 1 + cuts));
      await readHead(silent);
      silent.end();
      while ((closedTunnels.get('half-close-timeout') ?? 0) < cuts) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    assert.ok(
      !agent.packets.all.some(({ type, connectId }) => type === PacketType.CLOSE_REQ && connectId === 1),
    );
    assert.equal(server.server.counters.establishedTunnels, 1);
    clearInterval(takes);
    const close = await agent.packets.next(
      ({ type, connectId }) => type === PacketType.CLOSE_REQ && connectId === 1,
    );
    // Much of what the client sent is still here: the destination must not take this for all.
    assert.equal(close.amount, 1);
    assert.ok(
      !agent.packets.all.some(({ type, connectId }) => type === PacketType.HALF_CLOSE && connectId === 1),
    );
  });

  it('is found to be gone altogether when something is written to it', async () => {
    const { server, agent, socket } = await tunnel(FEATURES);
    socket.destroy();
    await agent.next(PacketType.HALF_CLOSE);
    while (!agent.packets.all.some((packet) => packet.type === PacketType.CLOSE_REQ)) {
      agent.stream.sendData(1, Buffer.from('anyone there?'));
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(server.server.counters.closedTunnels.get('frontend-lost'), 1);
  });
});

describe('an end that is not orderly', () => {
  it('of the client reaches the destination as a reset, behind all that the client sent', async () => {
    let seen = '';
    const lost = new Promise<string>((resolve) => {
      startDestination((socket) => {
        socket.on('data', (chunk) => {
          seen += chunk;
          if (seen === 'half a request') socket.write(Buffer.alloc(2_000_000));
        });
        socket.on('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)));
        socket.on('end', () => resolve('an orderly end'));
      }).then((started) => {
        destination = started;
      });
    });
    tunnels = await startTunnel();
    while (destination === undefined) await new Promise((resolve) => setImmediate(resolve));
    const client = await tunnels.dial('http-connect', destination.address);
    client.write('half a request');
    await once(client, 'readable');
    // Destroyed with unread bytes in the kernel: a Unix socket tells its peer of that as a reset.
    client.destroy();
    assert.equal(await lost, 'ECONNRESET');
    assert.equal(seen, 'half a request');
  });
});
