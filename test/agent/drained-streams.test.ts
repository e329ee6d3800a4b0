import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { defaultAgentTimes } from '../../src/proxy/agent/agent-options.ts';
import { DrainedStreams } from '../../src/proxy/agent/drained-streams.ts';
import { ServerLink, type ServerLinkOptions } from '../../src/proxy/agent/server-link.ts';
import { silentLog } from '../../src/proxy/ops/log.ts';
import { Buffers, defaultBufferBounds } from '../../src/proxy/wire/buffers.ts';
import { decodeFrame } from '../../src/proxy/wire/decode.ts';
import { blankStatus, type Packet, PacketType } from '../../src/proxy/wire/packet.ts';
import type { PacketStream, PacketStreamHandler } from '../../src/proxy/wire/packet-stream.ts';
import { dialRequest } from '../../src/proxy/wire/packets.ts';

/** Resolves when everything that is ready now has run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A link to a Go server over a stream in the test's hand, with one tunnel over a socket in its hand. */
async function linkWithTunnel(onRoom: () => void) {
  const socket = new Socket();
  const sent: Packet[] = [];
  let handlers = {} as PacketStreamHandler;
  const stream = {
    open: true,
    full: false,
    attach(given: PacketStreamHandler): void {
      handlers = given;
    },
    sendFrame(frame: Buffer): boolean {
      sent.push(decodeFrame(frame));
      return !stream.full;
    },
    sendData: () => !stream.full,
  };
  const ignore = (): void => {};
  const options: ServerLinkOptions = {
    connect: () => Promise.resolve(socket),
    buffers: new Buffers(defaultBufferBounds),
    times: defaultAgentTimes,
    onDial: ignore,
    onDialEnd: ignore,
    onTunnelEnd: ignore,
    onTailDropped: ignore,
    onEndpointClosed: ignore,
    onStatus: ignore,
    onOrder: ignore,
    onRoom,
    onEnd: ignore,
  };
  const server = { serverId: 'go', serverCount: 1, version: undefined, features: new Set<never>() };
  const link = new ServerLink(server, stream as unknown as PacketStream, ignore, options);
  handlers.onPacket(dialRequest(1n, '10.0.0.1:80'));
  await settled();
  return { link, socket, stream, sent, drained: () => handlers.onDrain() };
}

test('a stream is idle only when what a lost tunnel left has gone, and it tells when that may be', async () => {
  let room = 0;
  const { link, socket, stream, sent, drained } = await linkWithTunnel(() => room++);
  link.announce({ ...blankStatus(), leaving: true });
  assert.equal(link.tunnels, 1);
  stream.full = true;
  for (let i = 0; i < 3; i++) socket.emit('data', Buffer.from('left'));
  socket.destroy(new Error('lost'));
  await settled();
  assert.equal(link.tunnels + link.pendingDials, 0);
  assert.equal(link.idle, false);
  stream.full = false;
  drained();
  assert.equal(link.idle, true);
  assert.equal(room, 1);
  assert.equal(sent.at(-1)?.type, PacketType.CLOSE_RSP);
});

test('a stream that was not told DRAIN does not tell of room', async () => {
  let room = 0;
  const { socket, drained } = await linkWithTunnel(() => room++);
  drained();
  assert.equal(room, 0);
  socket.destroy();
});

/** A link as far as the set of drained streams looks at it. */
interface Shape {
  saidDrain: boolean;
  idle: boolean;
  closing: boolean;
}

function drainedStreams(shape: Shape) {
  const link = { ...shape, server: { serverId: 'go' } };
  const state = { draining: true };
  const remade: ServerLink[] = [];
  const streams = new DrainedStreams({
    links: () => [link as unknown as ServerLink],
    draining: () => state.draining,
    remake: (one) => remade.push(one),
    log: silentLog,
  });
  return { link, state, remade, streams };
}

const told: Shape = { saidDrain: true, idle: true, closing: false };

test('no stream is made anew while the agent drains, and none is named', async () => {
  const { remade, streams } = drainedStreams(told);
  streams.changed();
  await settled();
  assert.deepEqual([streams.servers, remade], [[], []]);
});

test('a stream that was told DRAIN is named after the undrain, and made anew once it is idle', async () => {
  const { link, state, remade, streams } = drainedStreams({ ...told, idle: false });
  state.draining = false;
  streams.changed();
  await settled();
  assert.deepEqual([streams.servers, remade.length], [['go'], 0]);
  link.idle = true;
  streams.changed();
  assert.equal(remade.length, 0, 'not before what is being done now');
  await settled();
  assert.equal(remade.length, 1);
});

for (const [what, shape] of [
  ['is being closed already', { ...told, closing: true }],
  ['was not told DRAIN', { ...told, saidDrain: false }],
] as const) {
  test(`a stream that ${what} is not closed`, async () => {
    const { state, remade, streams } = drainedStreams(shape);
    state.draining = false;
    streams.changed();
    await settled();
    assert.equal(remade.length, 0);
  });
}

test('an order that comes in the moment before keeps the stream', async () => {
  const { state, remade, streams } = drainedStreams(told);
  state.draining = false;
  streams.changed();
  state.draining = true;
  await settled();
  assert.equal(remade.length, 0);
});
