import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { afterEach, it } from 'node:test';
import { INITIAL_WINDOW_BYTES, MAX_DATA_BYTES } from '../../src/proxy/wire/flow.ts';
import { type Packet, PacketType } from '../../src/proxy/wire/packet.ts';
import { dialResponse, window } from '../../src/proxy/wire/packets.ts';
import { readHead, received, requestConnect } from '../peers/connect-request.ts';
import type { ScriptedStream } from '../peers/scripted-stream.ts';
import { TestServer, type TestServerOptions } from '../peers/test-server.ts';

let running: TestServer | undefined;

afterEach(async () => {
  await running?.close();
  assert.equal(running?.server.counters.establishedTunnels ?? 0, 0);
  assert.equal(running?.server.counters.connectFrontends ?? 0, 0);
  running = undefined;
});

/** A CONNECT tunnel over an agent that grants only what the test lets it. */
async function tunnel(
  options: TestServerOptions,
): Promise<{ server: TestServer; agent: ScriptedStream; socket: Socket }> {
  const server = await TestServer.start(options);
  running = server;
  const agent = await server.agent('a');
  const socket = await server.connectSocket();
  requestConnect(socket, '10.0.0.1:80');
  const request = await agent.next(PacketType.DIAL_REQ);
  agent.send(dialResponse(request.dialId, 1));
  await readHead(socket);
  return { server, agent, socket };
}

/** The credit is used up: the server says so. */
const blocked = (packet: Packet): boolean => packet.type === PacketType.WINDOW && packet.amount === 0;

it('a CONNECT client that leaves while the way to the node is full is noticed', async () => {
  const { agent, socket } = await tunnel({ times: { peekMs: 5, halfCloseTimeoutMs: 20 } });
  socket.write(Buffer.alloc(2 * INITIAL_WINDOW_BYTES));
  await agent.packets.next(blocked);
  socket.destroy();
  assert.equal((await agent.next(PacketType.CLOSE_REQ)).connectId, 1);
});

it('what a CONNECT client sent before its end arrives, though the node takes it slowly', async () => {
  const { agent, socket } = await tunnel({ times: { peekMs: 5 } });
  const sent = Buffer.alloc(3 * INITIAL_WINDOW_BYTES);
  for (let i = 0; i < sent.length; i++) sent[i] = (i * 7) % 251;
  socket.end(sent);
  socket.resume();
  await agent.packets.next(blocked);
  agent.onPacket = (packet) => {
    if (packet.type === PacketType.DATA) agent.send(window(1, packet.data.length));
  };
  agent.send(window(1, agent.received.length));
  await agent.next(PacketType.CLOSE_REQ);
  assert.ok(agent.received.equals(sent));
});

it('a client that stays while it is paused and read ahead loses nothing', async () => {
  const { agent, socket } = await tunnel({ times: { peekMs: 1 } });
  const sent = Buffer.alloc(8 * 1024 * 1024, 'x');
  socket.write(sent);
  await agent.packets.next(blocked);
  agent.onPacket = (packet) => {
    if (packet.type === PacketType.DATA) agent.send(window(1, packet.data.length));
  };
  agent.send(window(1, agent.received.length));
  let bytes = 0;
  while (bytes < sent.length) {
    await agent.next(PacketType.DATA);
    bytes = agent.received.length;
  }
  assert.equal(bytes, sent.length);
});

it('bytes that come before the 200 keep to the credit of the tunnel', async () => {
  const server = await TestServer.start();
  running = server;
  const agent = await server.agent('a');
  const socket = await server.connectSocket();
  requestConnect(socket, '10.0.0.1:80');
  const sent = Buffer.alloc(1024 * 1024, 'y');
  socket.write(sent);
  const request = await agent.next(PacketType.DIAL_REQ);
  agent.send(dialResponse(request.dialId, 1));
  await agent.packets.next(blocked);
  await readHead(socket);
  assert.ok(agent.received.length <= INITIAL_WINDOW_BYTES + MAX_DATA_BYTES, `${agent.received.length} bytes`);
  agent.onPacket = (packet) => {
    if (packet.type === PacketType.DATA) agent.send(window(1, packet.data.length));
  };
  agent.send(window(1, agent.received.length));
  while (agent.received.length < sent.length) await agent.next(PacketType.DATA);
  assert.ok(agent.received.equals(sent));
});

it('a client that ends its side within the hold still gets what the destination said', async () => {
  const server = await TestServer.start({ times: { holdMs: 60_000 } });
  running = server;
  const agent = await server.agent('a');
  const socket = await server.connectSocket();
  const all = received(socket);
  requestConnect(socket, '10.0.0.1:80');
  const request = await agent.next(PacketType.DIAL_REQ);
  agent.send(dialResponse(request.dialId, 1));
  agent.stream.sendData(1, Buffer.from('220 ready'));
  while ([...server.server.backends.all()][0]?.tunnels.get(1)?.bytesFromNode !== 9) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  socket.end();
  assert.match((await all).toString(), /^HTTP\/1\.1 200 .*\r\n\r\n220 ready$/s);
});

it('a CONNECT client that leaves while its dial is pending is noticed, however much it sent before', async () => {
  const server = await TestServer.start({ times: { peekMs: 5 } });
  running = server;
  const agent = await server.agent('a');
  const socket = await server.connectSocket();
  requestConnect(socket, '10.0.0.1:80');
  const request = await agent.next(PacketType.DIAL_REQ);
  await new Promise((resolve) => socket.write(Buffer.alloc(512 * 1024), resolve));
  socket.destroy();
  assert.equal((await agent.next(PacketType.DIAL_CLS)).dialId, request.dialId);
  assert.equal(server.server.buffers.promisedBytes, 0);
});
