import assert from 'node:assert/strict';
import { once } from 'node:events';
import { it } from 'node:test';
import { type Packet, PacketType } from '../../src/proxy/wire/packet.ts';
import {
  closeRequest,
  closeResponse,
  dialFailure,
  dialRequest,
  dialResponse,
} from '../../src/proxy/wire/packets.ts';
import { received, requestConnect } from '../peers/connect-request.ts';
import type { ScriptedStream } from '../peers/scripted-stream.ts';
import { TestServer } from '../peers/test-server.ts';

const CONNECT_TUNNELS = 1_900;
const GRPC_TUNNELS = 100;
const AT_ONCE = 50;

/** An agent that opens what it is asked for, or refuses it. CONNECT tunnels it closes at once. */
function answer(agent: ScriptedStream, error = ''): void {
  let last = 0;
  agent.onPacket = (packet: Packet) => {
    if (packet.type !== PacketType.DIAL_REQ) return;
    if (error !== '') agent.send(dialFailure(packet.dialId, error));
    else {
      agent.send(dialResponse(packet.dialId, ++last));
      if (packet.address.endsWith(':80')) agent.send(closeResponse(last));
    }
  };
}

async function connectTunnel(server: TestServer): Promise<string> {
  const socket = await server.connectSocket();
  const all = received(socket);
  requestConnect(socket, '10.0.0.1:80');
  return (await all).toString();
}

async function grpcTunnel(server: TestServer, id: number): Promise<void> {
  const frontend = server.frontend();
  frontend.send(dialRequest(BigInt(id), '10.0.0.1:443'));
  const { connectId } = await frontend.next(PacketType.DIAL_RSP);
  frontend.send(closeRequest(connectId));
  await frontend.ended;
}

/** Runs `count` jobs, some at once. */
async function many(count: number, job: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await job(++next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

it('2,000 ordinary tunnels print nothing at the default verbosity', async () => {
  const server = await TestServer.start({ verbosity: 2, times: { holdMs: 0 } });
  try {
    answer(await server.agent('a'));
    const before = server.lines.all.length;
    await many(CONNECT_TUNNELS, () => connectTunnel(server));
    await many(GRPC_TUNNELS, (index) => grpcTunnel(server, index));
    assert.equal(server.server.counters.dialsSucceeded, CONNECT_TUNNELS + GRPC_TUNNELS);
    assert.deepEqual(server.lines.all.slice(before), []);
  } finally {
    await server.close();
  }
});

it('1,000 failed dials print ten lines, and no warning', async () => {
  const server = await TestServer.start({ verbosity: 2 });
  try {
    answer(await server.agent('a'), 'dial tcp 10.0.0.1:80: connect: connection refused');
    const before = server.lines.all.length;
    await many(1_000, async () => assert.match(await connectTunnel(server), /^HTTP\/1.1 502/));
    const lines = server.lines.all.slice(before);
    assert.equal(lines.length, 10);
    for (const line of lines)
      assert.match(line, /^I.* "Dial failed" .*reason="dial tcp .*connection refused"/);
  } finally {
    await server.close();
  }
});

it('a client that is cut off is no line at the default verbosity', async () => {
  const server = await TestServer.start({ verbosity: 2 });
  try {
    answer(await server.agent('a'));
    const before = server.lines.all.length;
    const frontend = server.frontend();
    frontend.send(dialRequest(1n, '10.0.0.1:443'));
    await frontend.next(PacketType.DIAL_RSP);
    const socket = await server.connectSocket();
    requestConnect(socket, '10.0.0.1:443');
    await once(socket, 'data');
    socket.destroy();
    frontend.stream.abort(1, 'gone');
    while (server.server.counters.establishedTunnels > 0)
      await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(server.lines.all.slice(before), []);
  } finally {
    await server.close();
  }
});

it('what agents and clients say stays on its line, short and harmless', async () => {
  const server = await TestServer.start({ verbosity: 5 });
  try {
    const id = `a"] ${'x'.repeat(490)} E1103 04:05:06.000000 1 a.ts:1] "fake"`.slice(0, 512);
    const agent = await server.agent(id, { features: 'status', identifiers: 'host=a' });
    const hostile = `\r\nE1103 04:05:06.000000       1 a.ts:1] "fake"\u001b]0;title\u0007\u202e${'y'.repeat(50_000)}`;
    answer(agent, hostile);
    for (const address of [hostile, `host${hostile}:80`, '']) {
      const frontend = server.frontend();
      frontend.send(dialRequest(7n, address));
      await frontend.ended;
    }
    agent.stream.end();
    await server.logged('Agent disconnected');
    const failed = server.lines.all.filter((line) => line.includes('"Dial failed"'));
    assert.equal(failed.length, 3);
    for (const line of server.lines.all) {
      assert.match(line, /^[IWE]\d{4} [^\n]*\n$/);
      assert.doesNotMatch(line, /[\u0000-\u0009\u000b-\u001f\u007f\u202e]/);
      assert.ok(line.length < 4_000, String(line.length));
    }
  } finally {
    await server.close();
  }
});
