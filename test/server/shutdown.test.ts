import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { encodeDataFrame } from '../../src/proxy/wire/encode.ts';
import { PacketType } from '../../src/proxy/wire/packet.ts';
import {
  closeRequest,
  closeResponse,
  dialRequest,
  dialResponse,
  pong,
} from '../../src/proxy/wire/packets.ts';
import { readHead, received, requestConnect } from '../peers/connect-request.ts';
import { TestServer, type TestServerOptions } from '../peers/test-server.ts';

const GRACE_MS = 60_000;
const never = new AbortController().signal;
let running: TestServer | undefined;

async function start(options: TestServerOptions = {}): Promise<TestServer> {
  running = await TestServer.start(options);
  return running;
}

afterEach(async () => {
  await running?.close();
  running = undefined;
});

const tail = Buffer.alloc(2 * 1024 * 1024, 'tail');

describe('a server that stops within its grace period', () => {
  it('delivers the tail of the last CONNECT tunnel to a slow client', async () => {
    const server = await start();
    const agent = await server.agent('a', { features: 'ping,status' });
    const socket = await server.connectSocket();
    requestConnect(socket, '10.0.0.1:80');
    const request = await agent.next(PacketType.DIAL_REQ);
    agent.send(dialResponse(request.dialId, 1));
    await readHead(socket);
    const stopped = server.server.shutdown(GRACE_MS, never);
    for (let at = 0; at < tail.length; at += 65_536) {
      agent.stream.sendData(1, tail.subarray(at, at + 65_536));
    }
    agent.onPacket = (packet) => {
      if (packet.type === PacketType.PING) agent.send(pong(packet.amount));
    };
    agent.send(closeResponse(1));
    while (server.server.counters.establishedTunnels > 0) await new Promise((go) => setImmediate(go));
    assert.ok((await received(socket)).equals(tail));
    await stopped;
  });

  it('delivers the tail of the last gRPC tunnel to a slow client', async () => {
    const server = await start();
    const agent = await server.agent('a', { features: 'ping,status' });
    const frontend = server.frontend();
    frontend.send(dialRequest(5n, '10.0.0.1:80'));
    await agent.next(PacketType.DIAL_REQ);
    agent.send(dialResponse(5n, 1));
    await frontend.next(PacketType.DIAL_RSP);
    frontend.stream.pause();
    const stopped = server.server.shutdown(GRACE_MS, never);
    for (let at = 0; at < tail.length; at += 65_536) {
      agent.stream.sendData(1, tail.subarray(at, at + 65_536));
    }
    agent.onPacket = (packet) => {
      if (packet.type === PacketType.PING) agent.send(pong(packet.amount));
    };
    agent.send(closeResponse(1));
    while (server.server.counters.establishedTunnels > 0) await new Promise((go) => setImmediate(go));
    frontend.stream.resume();
    assert.equal((await frontend.ended).code, 0);
    assert.ok(frontend.received.equals(tail));
    await stopped;
  });

  it('delivers what a client sent just before its end to a slow agent', async () => {
    const server = await start();
    const agent = await server.agent('a', { features: 'ping,status' });
    const frontend = server.frontend();
    frontend.send(dialRequest(5n, '10.0.0.1:80'));
    await agent.next(PacketType.DIAL_REQ);
    agent.send(dialResponse(5n, 1));
    await frontend.next(PacketType.DIAL_RSP);
    agent.stream.pause();
    for (let at = 0; at < tail.length; at += 65_536) {
      frontend.stream.sendFrame(encodeDataFrame(1, tail.subarray(at, at + 65_536)));
    }
    frontend.send(closeRequest(1));
    await frontend.next(PacketType.CLOSE_RSP);
    const stopped = server.server.shutdown(GRACE_MS, never);
    agent.stream.resume();
    const answer = await agent.next(PacketType.PING);
    assert.ok(agent.received.equals(tail));
    agent.send(pong(answer.amount));
    await stopped;
  });

  it('does not wait for agents that had nothing to receive, however many', async () => {
    const server = await start();
    for (let i = 0; i < 20; i++) (await server.agent(`a${i}`)).stream.pause();
    await server.server.shutdown(GRACE_MS, never);
  });

  it('stops at once at a second signal', async () => {
    const server = await start();
    const agent = await server.agent('a');
    const frontend = server.frontend();
    frontend.send(dialRequest(5n, '10.0.0.1:80'));
    await agent.next(PacketType.DIAL_REQ);
    const hurry = new AbortController();
    const stopped = server.server.shutdown(GRACE_MS, hurry.signal);
    hurry.abort();
    await stopped;
    assert.equal(server.server.counters.pendingDials, 0);
  });
});
