import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { methodCodec } from '../../src/proxy/admin/messages/methods.ts';
import { GrpcHost } from '../../src/proxy/admin/service/grpc-host.ts';
import { encodeDataFrame } from '../../src/proxy/wire/encode.ts';
import { createGrpcServer, type GrpcServerOptions } from '../../src/proxy/wire/grpc-server.ts';
import type { PacketStream } from '../../src/proxy/wire/packet-stream.ts';
import { serverPacketStream } from '../../src/proxy/wire/server-stream.ts';
import { CONNECT_PATH } from '../../src/proxy/wire/services.ts';
import { DeafClient } from '../peers/deaf-client.ts';
import { Inbox } from '../peers/inbox.ts';
import { socketDescriptors } from '../peers/sockets-left.ts';
import { type Implementation, listen, Told } from './stream-subjects.ts';

const endStallMs = 20;

/** A server, the streams that it took up, and its connections as they are accepted. */
async function serve(t: TestContext, which: Implementation, options: Partial<GrpcServerOptions> = {}) {
  const streams = new Inbox<PacketStream>();
  const sockets = new Inbox<Socket>();
  const publicOnly = which === 'public';
  const take = (stream: PacketStream): void => {
    stream.attach(new Told());
    streams.push(stream);
  };
  const server = createGrpcServer({
    endStallMs,
    ...options,
    ...(which === 'direct'
      ? { handlers: {}, direct: { [CONNECT_PATH]: (call) => take(call.open({ endStallMs })) } }
      : {
          handlers: { [CONNECT_PATH]: (call) => take(serverPacketStream(call, { publicOnly, endStallMs })) },
        }),
  });
  const listener = await listen((socket) => {
    sockets.push(socket);
    server.injectConnection(socket);
  });
  t.after(async () => {
    await server.close();
    listener.close();
  });
  const { port } = listener.address() as AddressInfo;
  const connect = async (calls = 1) => {
    const client = await DeafClient.connect(port);
    t.after(() => client.socket.destroy());
    const socket = await sockets.next();
    const opened: PacketStream[] = [];
    for (let i = 0; i < calls; i++) {
      client.call(CONNECT_PATH);
      opened.push(await streams.next());
    }
    return { client, socket, streams: opened, stream: opened[0] as PacketStream };
  };
  return { server, connect };
}

/** Sends more than kernels hold between the two; resolves when nothing more of it goes. */
async function fill(stream: PacketStream): Promise<void> {
  for (let i = 0; i < 512; i++) stream.sendFrame(encodeDataFrame(1, Buffer.alloc(65_536)));
  let [left, turns] = [0, 0];
  while (turns++ < 100) {
    if (stream.bufferedBytes !== left) [left, turns] = [stream.bufferedBytes, 0];
    await new Promise((resolve) => setImmediate(resolve));
  }
}

for (const kind of ['fast', 'public', 'direct'] as const) {
  for (const [how, end] of [
    ['ended', (stream: PacketStream) => stream.end(0)],
    ['aborted', (stream: PacketStream) => stream.abort(8, 'slow-consumer')],
  ] as const) {
    test(`a client that reads nothing loses its connection after its ${kind} stream was ${how}`, async (t) => {
      const { server, connect } = await serve(t, kind);
      const { socket, stream } = await connect();
      await fill(stream);
      end(stream);
      await once(socket, 'close');
      assert.equal(server.sessions, 0);
    });
  }
}

test('a client that reads nothing keeps its connection while another stream of it lives', async (t) => {
  const { server, connect } = await serve(t, 'fast');
  const both = await connect(2);
  await fill(both.stream);
  both.stream.abort(8, 'slow-consumer');
  // Each lives longer than the first would have.
  for (let i = 0; i < 3; i++) {
    const { socket, stream } = await connect();
    await fill(stream);
    stream.abort(8, 'slow-consumer');
    await once(socket, 'close');
  }
  assert.equal(server.sessions, 1);
  both.streams[1]?.abort(8, 'slow-consumer');
  await once(both.socket, 'close');
});

test('a client that reads nothing and answers no ping loses its connection, and no descriptor stays', async (t) => {
  const { server, connect } = await serve(t, 'fast', { keepaliveTimeMs: 20, keepaliveTimeoutMs: 20 });
  const before = socketDescriptors();
  const { client, socket, stream } = await connect();
  const closed = once(socket, 'close');
  await fill(stream);
  await closed;
  assert.equal(server.sessions, 0);
  client.socket.destroy();
  await once(client.socket, 'close');
  assert.equal(socketDescriptors(), before);
});

test('an operator that reads nothing and answers no ping loses its connection', async (t) => {
  const host = new GrpcHost({ endStallMs, keepaliveMs: 20, keepaliveTimeoutMs: 20 });
  const { path } = methodCodec('WatchEvents');
  host.server.register(
    path,
    (call: { write(bytes: Buffer): boolean; on(name: 'error', listener: () => void): void }) => {
      call.on('error', () => {});
      for (let i = 0; i < 512; i++) call.write(Buffer.alloc(65_536));
    },
    (bytes: Buffer) => bytes,
    (bytes: Buffer) => bytes,
    'serverStream',
  );
  const sockets = new Inbox<Socket>();
  const listener = await listen((socket) => {
    sockets.push(socket);
    host.accept(socket);
  });
  t.after(async () => {
    await host.close();
    listener.close();
  });
  const client = await DeafClient.connect((listener.address() as AddressInfo).port);
  t.after(() => client.socket.destroy());
  client.call(path, Buffer.alloc(5));
  await once(await sockets.next(), 'close');
  assert.equal(host.connections, 0);
});
