import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { Client, credentials, Metadata, type ServerDuplexStream } from '@grpc/grpc-js';
import { clientOptions } from '../../src/proxy/wire/client-options.ts';
import { openPacketStream, openPublicPacketStream } from '../../src/proxy/wire/client-stream.ts';
import { encodeDataFrame, encodeFrame } from '../../src/proxy/wire/encode.ts';
import { createGrpcServer } from '../../src/proxy/wire/grpc-server.ts';
import { ping } from '../../src/proxy/wire/packets.ts';
import { serverPacketStream } from '../../src/proxy/wire/server-stream.ts';
import { CONNECT_PATH } from '../../src/proxy/wire/services.ts';
import { listen, Told } from './stream-subjects.ts';

/** A client of a server of ours that takes calls up with `handler`. */
async function clientOf(
  t: TestContext,
  handler: (call: ServerDuplexStream<Buffer, Buffer>) => void,
): Promise<Client> {
  const server = createGrpcServer({ handlers: { [CONNECT_PATH]: handler } });
  const listener = await listen((socket) => server.injectConnection(socket));
  const client = connect((listener.address() as AddressInfo).port);
  t.after(async () => {
    client.close();
    listener.close();
    await server.close();
  });
  return client;
}

function connect(port: number): Client {
  return new Client(`127.0.0.1:${port}`, credentials.createInsecure(), clientOptions());
}

describe('packet streams of both our ends', { timeout: 20_000 }, () => {
  test('are fast on both sides unless told otherwise', async (t) => {
    const implementations: string[] = [];
    const client = await clientOf(t, (call) => {
      const stream = serverPacketStream(call);
      implementations.push(stream.implementation);
      stream.attach(new Told());
    });
    const { stream } = await openPacketStream(client, CONNECT_PATH, new Metadata());
    implementations.push(stream.implementation);
    assert.deepEqual(implementations, ['fast', 'fast']);
  });

  test('are public on both sides when told so', async (t) => {
    const implementations: string[] = [];
    const client = await clientOf(t, (call) => {
      const stream = serverPacketStream(call, { publicOnly: true });
      implementations.push(stream.implementation);
      stream.attach(new Told());
    });
    const { stream } = await openPacketStream(client, CONNECT_PATH, new Metadata(), { publicOnly: true });
    implementations.push(stream.implementation);
    assert.deepEqual(implementations, ['public', 'public']);
  });

  test('lose nothing that comes with the response headers', async (t) => {
    const client = await clientOf(t, (call) => {
      const stream = serverPacketStream(call);
      stream.attach(new Told());
      for (let i = 0; i < 100; i++) stream.sendFrame(encodeDataFrame(i, Buffer.alloc(1000)));
      stream.end(0);
    });
    for (let round = 0; round < 20; round++) {
      const { stream } = await openPacketStream(client, CONNECT_PATH, new Metadata());
      const told = new Told();
      stream.attach(told);
      assert.deepEqual([(await told.ended()).cause, told.packets.length], ['status', 100]);
      assert.equal(stream.implementation, 'fast');
    }
  });

  test('keep what a paused client has not taken when the server has ended', async (t) => {
    const client = await clientOf(t, (call) => {
      const stream = serverPacketStream(call);
      stream.attach(new Told());
      for (let i = 0; i < 100; i++) stream.sendFrame(encodeDataFrame(i, Buffer.alloc(1000)));
      stream.end(9, 'that was it');
    });
    const { stream } = await openPacketStream(client, CONNECT_PATH, new Metadata());
    const told = new Told();
    told.react = () => {
      stream.pause();
      setImmediate(() => stream.resume());
    };
    stream.attach(told);
    assert.deepEqual(await told.ended(), { cause: 'status', code: 9, details: 'that was it' });
    assert.equal(told.packets.length, 100);
  });

  test('do not wait for each other when both send in bulk', async (t) => {
    const client = await clientOf(t, (call) => {
      const stream = serverPacketStream(call);
      const told = new Told();
      told.react = (packet) => stream.sendFrame(packet.frame);
      stream.attach(told);
    });
    const { stream } = await openPacketStream(client, CONNECT_PATH, new Metadata());
    const told = new Told();
    stream.attach(told);
    const frame = encodeDataFrame(1, Buffer.alloc(65_536));
    // Several times what the kernel takes for a connection.
    for (let i = 0; i < 400; i++) stream.sendFrame(frame);
    await told.arrived(400);
  });

  test('tell the server of a client that cancels', async (t) => {
    const served = new Told();
    const client = await clientOf(t, (call) => serverPacketStream(call).attach(served));
    const { stream } = await openPacketStream(client, CONNECT_PATH, new Metadata());
    stream.attach(new Told());
    stream.abort(1, 'changed my mind');
    assert.equal((await served.ended()).cause, 'cancelled');
  });
});

describe('opening a packet stream', { timeout: 20_000 }, () => {
  test('gives the response headers', async (t) => {
    const client = await clientOf(t, (call) => {
      const headers = new Metadata();
      headers.set('serverID', 'one');
      call.sendMetadata(headers);
      serverPacketStream(call).attach(new Told());
    });
    const { metadata, stream } = await openPacketStream(client, CONNECT_PATH, new Metadata());
    assert.deepEqual(metadata.get('serverid'), ['one']);
    assert.equal(stream.implementation, 'fast');
  });

  test('fails with the code and words of a refusal', async (t) => {
    const client = await clientOf(t, (call) => call.emit('error', { code: 16, details: 'who are you?' }));
    const opening = openPacketStream(client, CONNECT_PATH, new Metadata());
    await assert.rejects(opening, { name: 'RpcError', code: 16, details: 'who are you?' });
  });

  test('fails with UNIMPLEMENTED where the server does not know the method', async (t) => {
    const client = await clientOf(t, () => {});
    await assert.rejects(openPacketStream(client, '/No/Such', new Metadata()), { code: 12 });
  });

  test('fails with UNAVAILABLE where nobody listens', async (t) => {
    const listener = await listen(() => {});
    const { port } = listener.address() as AddressInfo;
    await new Promise((resolve) => listener.close(resolve));
    const client = connect(port);
    t.after(() => client.close());
    await assert.rejects(openPacketStream(client, CONNECT_PATH, new Metadata()), { code: 14 });
  });

  test('is given up by its signal, on which it leaves no listener', async (t) => {
    const called = new Told();
    // Takes the call and never answers.
    const client = await clientOf(t, (call) => call.once('cancelled', () => called.onDrain()).resume());
    const abort = new AbortController();
    const opening = openPacketStream(client, CONNECT_PATH, new Metadata(), { signal: abort.signal });
    abort.abort();
    await assert.rejects(opening, { code: 1 });
    assert.equal(getEventListeners(abort.signal, 'abort').length, 0);
    await assert.rejects(openPacketStream(client, CONNECT_PATH, new Metadata(), { signal: abort.signal }), {
      code: 1,
    });
  });

  test('leaves no listener on its signal when it succeeds', async (t) => {
    const client = await clientOf(t, (call) => serverPacketStream(call).attach(new Told()));
    const { signal } = new AbortController();
    await openPacketStream(client, CONNECT_PATH, new Metadata(), { signal });
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });

  test('at once works with a server that sends no headers before its first packet', async (t) => {
    const server = http2.createServer();
    server.on('stream', (stream) => {
      stream.once('data', () => {
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
        stream.write(encodeFrame(ping(2)));
      });
    });
    const sockets = new Set<{ destroy(): void }>();
    const listener = await listen((socket) => {
      sockets.add(socket);
      server.emit('connection', socket);
    });
    const client = connect((listener.address() as AddressInfo).port);
    t.after(() => {
      client.close();
      for (const socket of sockets) socket.destroy();
      listener.close();
    });
    const stream = openPublicPacketStream(client, CONNECT_PATH, new Metadata());
    const told = new Told();
    stream.attach(told);
    stream.send(ping(1));
    await told.arrived(1);
    assert.equal(told.packets[0]?.amount, 2);
  });

  test('at once tells of a failure as the end of the stream', async (t) => {
    const client = await clientOf(t, (call) => call.emit('error', { code: 7, details: 'no' }));
    const told = new Told();
    openPublicPacketStream(client, CONNECT_PATH, new Metadata()).attach(told);
    assert.deepEqual(await told.ended(), { cause: 'status', code: 7, details: 'no' });
  });
});
