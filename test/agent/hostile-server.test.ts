import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blankStatus, PacketType } from '../../src/proxy/wire/packet.ts';
import {
  closeDial,
  closeRequest,
  closeResponse,
  dialRequest,
  dialResponse,
  drain,
  ping,
  status,
  window,
} from '../../src/proxy/wire/packets.ts';
import { agentCase, goServer } from '../peers/agent-case.ts';
import type { ScriptedConnect } from '../peers/scripted-server.ts';
import { until } from '../peers/sockets-left.ts';

let lastNumber = 1_000;

/** The stream still answers, behind all that was sent before. */
async function answers(connect: ScriptedConnect): Promise<void> {
  const number = ++lastNumber;
  connect.send(ping(number));
  await connect.packets.next((p) => p.type === PacketType.PONG && p.amount === number);
}

/** A frame of the given packet body. */
function frame(body: readonly number[]): Buffer {
  return Buffer.from([0, 0, 0, 0, body.length, ...body]);
}

const MINUS_ONE = [255, 255, 255, 255, 255, 255, 255, 255, 255, 1];

test('an address or protocol of a megabyte is refused in a line', () =>
  agentCase(async ({ connect, agent }) => {
    connect.dial('a'.repeat(1 << 20));
    const badAddress = await connect.next(PacketType.DIAL_RSP);
    const request = dialRequest(7n, 'b'.repeat(1 << 20));
    request.protocol = 'c'.repeat(1 << 20);
    connect.send(request);
    const badProtocol = await connect.next(PacketType.DIAL_RSP);
    for (const { error } of [badAddress, badProtocol]) {
      assert.notEqual(error, '');
      assert.ok(error.length < 1_000, `${error.length} characters`);
    }
    assert.ok(agent.lines.all.every((line) => line.length < 2_000));
    await answers(connect);
  }));

test('packets with negative connectIDs and numbers are ignored', () =>
  agentCase(async ({ connect }) => {
    connect.stream.sendFrame(frame([8, 4, 34, 14, 8, ...MINUS_ONE, 26, 1, 65]));
    connect.stream.sendFrame(frame([8, 2, 42, 11, 8, ...MINUS_ONE]));
    // PING of -1: type 1004, member 1004.
    connect.stream.sendFrame(frame([8, 0xec, 7, 0xe2, 0x3e, 11, 8, ...MINUS_ONE]));
    await answers(connect);
    assert.ok(!connect.types.includes(PacketType.CLOSE_RSP));
    assert.equal(connect.types.filter((type) => type === PacketType.PONG).length, 1);
  }));

test('packets that only agents send, and unknown types, are ignored', () =>
  agentCase(async ({ connect }) => {
    connect.send(dialResponse(1n, 1));
    connect.send(closeResponse(1, 'x'));
    connect.send(drain());
    connect.send(closeDial(12n));
    connect.stream.sendFrame(frame([8, 99]));
    await answers(connect);
    assert.deepEqual(
      connect.types.filter((type) => type !== PacketType.STATUS),
      [PacketType.PONG],
    );
  }));

test('floods of STATUS, WINDOW and DIAL_CLS are taken', () =>
  agentCase(async ({ connect, agent, destination }) => {
    const id = await connect.open(destination.address);
    agent.agent.leave();
    for (let i = 0; i < 20_000; i++) {
      connect.send(status({ ...blankStatus(), replacements: i % 3 }));
      connect.send(window(id, Number.MAX_SAFE_INTEGER));
      connect.send(closeDial(BigInt(i)));
    }
    await answers(connect);
    assert.equal(connect.types.filter((type) => type === PacketType.CLOSE_RSP).length, 0);
    connect.send(closeRequest(id));
    await connect.closed(id);
  }));

test('DATA for thousands of unknown connectIDs costs one answer each, and no tunnel its life', () =>
  agentCase(async ({ connect, destination }) => {
    const id = await connect.open(destination.address);
    for (let round = 0; round < 3; round++) {
      for (let unknown = 1_000; unknown < 6_000; unknown++) connect.data(unknown, 'x');
    }
    await answers(connect);
    assert.equal(connect.types.filter((type) => type === PacketType.CLOSE_RSP).length, 5_000);
    connect.send(closeRequest(id));
    assert.equal((await connect.closed(id)).error, '');
  }));

test('a server that asks for answers without reading them loses its stream', () =>
  agentCase(
    async ({ connect, server, agent }) => {
      const request = dialRequest(1n, 'x'.repeat(300));
      request.protocol = 'udp';
      connect.stream.pause();
      const lost = agent.logged('does not read what it asks for');
      let over = false;
      void lost.then(() => {
        over = true;
      });
      while (!over) {
        for (let i = 0; i < 500; i++) connect.send(request);
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.notEqual(await server.connected(), connect);
    },
    { windowBytes: 65_535 },
  ));

test('a malformed packet ends its stream alone, and a new one is made', () =>
  agentCase(async ({ connect, server, agent }) => {
    connect.stream.sendFrame(frame([8, 4, 34, 5, 8]));
    assert.match(await agent.logged('Lost the stream'), /malformed-packet/);
    await server.connected();
  }));

test('a server that claims a million others does not make the agent hold or ask more than there are', () =>
  agentCase(
    async ({ agent, server }) => {
      await agent.logged('known already');
      await agent.logged('known already');
      assert.equal(agent.agent.servers.links.size, 1);
      assert.equal(agent.agent.servers.serverCount, 1_000);
      await until(() => server.sockets.size <= 2, 'the streams that were dropped');
    },
    { serverCount: 1_000_000 },
  ));

test('a Go server that cancels a dial ID after its tunnel was used does not end the tunnel', () =>
  agentCase(async ({ connect, destination }) => {
    destination.onSocket = (socket) => socket.pipe(socket);
    const dialId = connect.dial(destination.address);
    const { connectId } = await connect.next(PacketType.DIAL_RSP);
    connect.data(connectId, 'one');
    await connect.next(PacketType.DATA);
    connect.send(closeDial(dialId));
    connect.data(connectId, 'two');
    assert.equal((await connect.next(PacketType.DATA)).data.toString(), 'two');
    assert.ok(!connect.types.includes(PacketType.CLOSE_RSP));
  }, goServer));
