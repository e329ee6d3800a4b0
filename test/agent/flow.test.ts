import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { defaultBufferBounds } from '../../src/proxy/wire/buffers.ts';
import { INITIAL_WINDOW_BYTES } from '../../src/proxy/wire/flow.ts';
import { PacketType } from '../../src/proxy/wire/packet.ts';
import { window } from '../../src/proxy/wire/packets.ts';
import { agentCase, goServer } from '../peers/agent-case.ts';
import type { ScriptedConnect } from '../peers/scripted-server.ts';
import { until } from '../peers/sockets-left.ts';

const granted = (connect: ScriptedConnect): number =>
  connect.packets.all
    .filter((p) => p.type === PacketType.WINDOW && p.connectId !== 0)
    .reduce((sum, p) => sum + p.amount, 0);

test('an endpoint stops reading when its credit is used up, and goes on with a WINDOW', () =>
  agentCase(async ({ connect, destination }) => {
    const total = 4 * 1024 * 1024;
    destination.onSocket = (socket) => socket.end(Buffer.alloc(total));
    const stuck = await connect.open(destination.address);
    // A whole other transfer behind it shows that nothing more of the first is under way.
    await until(() => connect.bytes(stuck) >= INITIAL_WINDOW_BYTES, 'the first window');
    destination.onSocket = (socket) => socket.end('done');
    await connect.closed(await connect.open(destination.address));
    assert.ok(connect.bytes(stuck) < INITIAL_WINDOW_BYTES + 65_536);
    connect.send(window(stuck, 1_000_000));
    await until(() => connect.bytes(stuck) >= INITIAL_WINDOW_BYTES + 1_000_000, 'the second window');
    connect.send(window(stuck, total));
    await connect.closed(stuck);
    assert.equal(connect.bytes(stuck), total);
  }));

test('WINDOW with zero, negative or unheard-of bytes, and for other tunnels, gives no credit', () =>
  agentCase(async ({ connect, destination }) => {
    destination.onSocket = (socket) => socket.end(Buffer.alloc(4 * 1024 * 1024));
    const stuck = await connect.open(destination.address);
    await until(() => connect.bytes(stuck) >= INITIAL_WINDOW_BYTES, 'the first window');
    connect.send(window(stuck, 0));
    connect.stream.sendFrame(negativeWindow(stuck));
    connect.send(window(0, 1_000_000));
    connect.send(window(stuck + 1, 1_000_000));
    destination.onSocket = (socket) => socket.end('done');
    await connect.closed(await connect.open(destination.address));
    assert.ok(connect.bytes(stuck) < INITIAL_WINDOW_BYTES + 65_536);
    connect.send(window(stuck, Number.MAX_SAFE_INTEGER));
    connect.send(window(stuck, Number.MAX_SAFE_INTEGER));
    await connect.closed(stuck);
    assert.equal(connect.bytes(stuck), 4 * 1024 * 1024);
  }));

test('what a destination takes is granted back, and nothing before', () =>
  agentCase(async ({ connect, destination }) => {
    const id = await connect.open(destination.address);
    const socket = await destination.accepted.next();
    let sent = 0;
    for (let before = -1; before < granted(connect); ) {
      before = granted(connect);
      for (; sent < INITIAL_WINDOW_BYTES + before; sent += 65_536) connect.data(id, Buffer.alloc(65_536));
      // The answer to a dial comes behind all grants for what was sent before it.
      connect.dial(destination.address);
      await connect.next(PacketType.DIAL_RSP);
    }
    // The kernel took some; the rest waits in the agent.
    assert.ok(granted(connect) < sent);
    socket.resume();
    await until(() => granted(connect) >= sent - INITIAL_WINDOW_BYTES / 4 + 1, 'grants for all');
    // Grants are cumulative: all that left, and at most the largest window ahead.
    assert.ok(granted(connect) <= sent + 16 * 1024 * 1024);
  }));

test('towards a Go server no WINDOW is sent and none is obeyed', () =>
  agentCase(async ({ connect, destination }) => {
    destination.onSocket = (socket) => socket.end(Buffer.alloc(1024 * 1024));
    const id = await connect.open(destination.address);
    connect.send(window(id, 1));
    await connect.closed(id);
    assert.equal(connect.bytes(id), 1024 * 1024);
    assert.ok(!connect.types.includes(PacketType.WINDOW));
  }, goServer));

test('a destination that takes nothing for too long ends its tunnel as slow-consumer', () =>
  agentCase(
    async ({ connect, destination, agent }) => {
      const id = await connect.open(destination.address);
      await destination.accepted.next();
      for (let i = 0; i < 200; i++) connect.data(id, Buffer.alloc(65_536));
      assert.equal((await connect.closed(id)).error, 'slow-consumer');
      await agent.logged('reason="slow-consumer"');
    },
    goServer,
    { bounds: { ...defaultBufferBounds, softBytes: 1024 * 1024, stallMs: 20 } },
  ));

test('more than the hard bound for one destination ends its tunnel at once, and no other', () =>
  agentCase(
    async ({ connect, destination }) => {
      const slow = await connect.open(destination.address);
      await destination.accepted.next();
      const other = await connect.open(destination.address);
      const live = await destination.accepted.next();
      for (let i = 0; i < 200; i++) connect.data(slow, Buffer.alloc(65_536));
      assert.equal((await connect.closed(slow)).error, 'slow-consumer');
      connect.data(other, 'hello');
      assert.equal(String((await once(live.resume(), 'data'))[0]), 'hello');
    },
    goServer,
    { bounds: { ...defaultBufferBounds, softBytes: 512 * 1024, hardBytes: 1024 * 1024, stallMs: 60_000 } },
  ));

test('a stream that the server reads slowly pauses the destinations, and loses nothing', () =>
  agentCase(async ({ connect, destination }) => {
    const total = 8 * 1024 * 1024;
    const written: number[] = [];
    destination.onSocket = (socket) => {
      socket.end(Buffer.alloc(total), () => written.push(1));
    };
    const ids = [await connect.open(destination.address)];
    let packets = 0;
    connect.onPacket = () => {
      if (++packets % 16 !== 0) return;
      connect.stream.pause();
      setImmediate(() => connect.stream.resume());
    };
    for (let i = 0; i < 7; i++) ids.push(await connect.open(destination.address));
    for (const id of ids) await until(() => connect.bytes(id) === total, 'all bytes');
    assert.equal(written.length, ids.length);
  }, goServer));

/** WINDOW with int64 -1 bytes. */
function negativeWindow(connectId: number): Buffer {
  const member = [8, connectId, 16, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1];
  // Field 1000 (tag 8002), type 1000.
  const body = [8, 0xe8, 0x07, 0xc2, 0x3e, member.length, ...member];
  return Buffer.from([0, 0, 0, 0, body.length, ...body]);
}
