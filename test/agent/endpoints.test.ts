import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect as open, type Socket } from 'node:net';
import { test } from 'node:test';
import { PacketType } from '../../src/proxy/wire/packet.ts';
import { closeRequest, dialRequest, halfClose } from '../../src/proxy/wire/packets.ts';
import { agentCase, goServer } from '../peers/agent-case.ts';
import { readAll } from '../peers/destination-server.ts';
import type { ScriptedConnect } from '../peers/scripted-server.ts';
import { until } from '../peers/sockets-left.ts';

const halfCloseServer = { features: 'ping,status,flow,half-close' };

/** What tunnels were granted, in bytes. */
function granted(connect: ScriptedConnect): number {
  return connect.packets.all
    .filter((p) => p.type === PacketType.WINDOW && p.connectId !== 0)
    .reduce((sum, p) => sum + p.amount, 0);
}

test('what a destination says first comes behind the DIAL_RSP', () =>
  agentCase(async ({ connect, destination }) => {
    destination.onSocket = (socket) => socket.write('220 hello\r\n');
    for (let i = 0; i < 200; i++) connect.dial(destination.address);
    await until(
      () => connect.types.filter((type) => type === PacketType.DATA).length === 200,
      'all greetings',
    );
    const answered = new Set<number>();
    for (const packet of connect.packets.all) {
      if (packet.type === PacketType.DIAL_RSP) answered.add(packet.connectId);
      if (packet.type === PacketType.DATA) assert.ok(answered.has(packet.connectId));
    }
  }));

for (const [peer, options] of [
  ['our', { features: 'ping,status' }],
  ['a Go', goServer],
] as const) {
  test(`towards ${peer} server every byte of a destination that sends 10 MiB and closes comes before the end`, () =>
    agentCase(async ({ connect, destination }) => {
      const body = randomBytes(10 * 1024 * 1024);
      destination.onSocket = (socket) => socket.end(body);
      const id = await connect.open(destination.address);
      const end = await connect.closed(id);
      assert.equal(end.error, '');
      assert.ok(connect.received.equals(body));
      assert.ok(connect.packets.all.every((packet) => packet.data.length <= 65_536));
      assert.equal(
        connect.types.at(-1) === PacketType.STATUS || connect.types.at(-1) === PacketType.CLOSE_RSP,
        true,
      );
    }, options));
}

test('a server that reads slowly gets every byte too', () =>
  agentCase(async ({ connect, destination }) => {
    const body = randomBytes(4 * 1024 * 1024);
    destination.onSocket = (socket) => socket.end(body);
    const answer = connect.next(PacketType.DIAL_RSP);
    connect.dial(destination.address);
    const { connectId } = await answer;
    let packets = 0;
    connect.onPacket = () => {
      if (++packets % 8 !== 0) return;
      connect.stream.pause();
      setImmediate(() => connect.stream.resume());
    };
    await connect.closed(connectId);
    assert.ok(connect.received.equals(body));
  }, goServer));

test('all DATA before a CLOSE_REQ reaches the destination before its end', () =>
  agentCase(async ({ connect, destination, agent }) => {
    const parts = Array.from({ length: 40 }, () => randomBytes(60_000));
    const id = await connect.open(destination.address);
    const socket = await destination.accepted.next();
    for (const part of parts) connect.data(id, part);
    connect.send(closeRequest(id));
    assert.equal((await connect.closed(id)).error, '');
    // Nothing was read so far; the tunnel is over for the server, and the bytes are not lost.
    assert.ok((await readAll(socket)).equals(Buffer.concat(parts)));
    assert.equal(agent.agent.status.tunnels, 0);
    socket.end();
  }, goServer));

test('a destination that takes nothing does not delay the answer to CLOSE_REQ, and is cut in the end', () =>
  agentCase(
    async ({ connect, destination, agent }) => {
      const id = await connect.open(destination.address);
      const socket = await destination.accepted.next();
      for (let i = 0; i < 200; i++) connect.data(id, Buffer.alloc(60_000));
      connect.send(closeRequest(id));
      await connect.closed(id);
      assert.match(await agent.logged('Dropped what a destination did not take'), /why="taken-nothing"/);
      await until(() => agent.agent.counts.openEndpoints === 0, 'the cut');
      let taken = 0;
      socket.on('data', (chunk: Buffer) => {
        taken += chunk.length;
      });
      socket.on('end', () => socket.destroy());
      await new Promise((resolve) => socket.once('close', resolve).resume());
      assert.ok(taken < 200 * 60_000);
    },
    goServer,
    { times: { tailMs: 20 } },
  ));

test('a tunnel that is cut behind its half-close leaves the destination all that the client sent', () =>
  agentCase(async ({ connect, destination, agent }) => {
    const id = await connect.open(destination.address);
    const socket = await destination.accepted.next();
    const sent = randomBytes(200_000);
    connect.data(id, sent);
    connect.send(halfClose(id));
    await until(() => granted(connect) === sent.length, 'the kernel has it');
    connect.send(closeRequest(id, true));
    await connect.closed(id);
    await until(() => agent.agent.counts.openEndpoints === 0, 'the endpoint closed');
    assert.ok((await readAll(socket)).equals(sent));
    socket.destroy();
  }, halfCloseServer));

test('what a destination takes behind a half-close is granted to the last byte, as a sign of life', () =>
  agentCase(async ({ connect, destination }) => {
    const id = await connect.open(destination.address);
    const socket = await destination.accepted.next();
    for (const bytes of [1, 2_000]) connect.data(id, Buffer.alloc(bytes));
    connect.send(halfClose(id));
    await until(() => granted(connect) === 2_001, 'grants for all');
    socket.destroy();
  }, halfCloseServer));

test('a tunnel that breaks off in the very instant of its half-close leaves no socket', () =>
  agentCase(async ({ connect, destination, agent }) => {
    const id = await connect.open(destination.address);
    const socket = await destination.accepted.next();
    connect.send(halfClose(id));
    connect.send(closeRequest(id, true));
    await connect.closed(id);
    await until(() => agent.agent.counts.openEndpoints === 0, 'the endpoint closed');
    socket.destroy();
  }));

test('a destination that resets its connection ends the tunnel with an error', () =>
  agentCase(async ({ connect, destination }) => {
    const id = await connect.open(destination.address);
    (await destination.accepted.next()).resetAndDestroy();
    const end = await connect.closed(id);
    assert.equal(end.error, `${destination.address}: ECONNRESET`);
  }));

test('a socket that was destroyed before its tunnel started ends the tunnel once, with an error', async () => {
  let port = 0;
  await agentCase(
    async ({ connect, destination, agent }) => {
      port = destination.port;
      const id = await connect.open('dead');
      assert.equal((await connect.closed(id)).error, 'dead: EPIPE');
      assert.equal(await connect.open('alive'), 2);
      assert.equal(agent.agent.counts.openEndpoints, 1);
      assert.equal(connect.types.filter((type) => type === PacketType.CLOSE_RSP).length, 1);
    },
    {},
    {
      connectDestination: async (address) => {
        const socket = open(port, '127.0.0.1');
        socket.on('error', () => {});
        await once(socket, 'connect');
        if (address === 'dead') socket.destroy(Object.assign(new Error('broken'), { code: 'EPIPE' }));
        return socket;
      },
    },
  );
});

test('a destination that errors within a write ends its own tunnel alone', async () => {
  let port = 0;
  const sockets: Socket[] = [];
  await agentCase(
    async ({ connect, destination }) => {
      port = destination.port;
      const first = await connect.open('first');
      const second = await connect.open('second');
      sockets[0]!.write = () => {
        sockets[0]!.destroy(Object.assign(new Error('broken'), { code: 'EPIPE' }));
        return false;
      };
      connect.data(first, Buffer.from('x'));
      assert.equal((await connect.closed(first)).error, 'first: EPIPE');
      await destination.accepted.next();
      const other = await destination.accepted.next();
      connect.data(second, Buffer.from('still here'));
      assert.equal(String((await once(other.resume(), 'data'))[0]), 'still here');
    },
    {},
    {
      connectDestination: async () => {
        const socket = open(port, '127.0.0.1');
        await once(socket, 'connect');
        sockets.push(socket);
        return socket;
      },
    },
  );
});

test('DATA and CLOSE_REQ for an unknown connectID are answered with an error, DATA once only', () =>
  agentCase(async ({ connect }) => {
    for (let i = 0; i < 5; i++) connect.data(41, Buffer.from('x'));
    connect.send(closeRequest(42));
    assert.match((await connect.closed(41)).error, /Unknown connectID/);
    assert.match((await connect.closed(42)).error, /Unknown connectID/);
    assert.equal(connect.types.filter((type) => type === PacketType.CLOSE_RSP).length, 2);
  }));

test('DATA in flight when a tunnel ended is dropped without an answer', () =>
  agentCase(async ({ connect, destination }) => {
    destination.onSocket = (socket) => socket.resume().end();
    const id = await connect.open(destination.address);
    await connect.closed(id);
    connect.data(id, Buffer.from('late'));
    connect.send(dialRequest(99n, destination.address));
    await connect.packets.next((p) => p.type === PacketType.DIAL_RSP && p.dialId === 99n);
    assert.equal(
      connect.packets.all.filter((p) => p.type === PacketType.CLOSE_RSP && p.connectId === id).length,
      1,
    );
  }));

test('when the stream to the server is lost, destinations are reset, not ended', () =>
  agentCase(async ({ connect, destination, server, agent }) => {
    await connect.open(destination.address);
    const socket = await destination.accepted.next();
    const error = once(socket, 'error');
    socket.resume();
    connect.socket.destroy();
    assert.equal((await error)[0].code, 'ECONNRESET');
    await agent.logged('reason="server-lost"');
    await server.connected();
  }));
