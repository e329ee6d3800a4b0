import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2, { type ClientHttp2Session, type Http2Stream } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createGrpcServer } from '../../src/proxy/wire/grpc-server.ts';
import { serverPacketStream } from '../../src/proxy/wire/server-stream.ts';
import { CONNECT_PATH, PROXY_PATH } from '../../src/proxy/wire/services.ts';
import { frame, PREFACE } from '../peers/http2-frame.ts';
import { listen, request, Told } from './stream-subjects.ts';

const [HEADERS, RST_STREAM, SETTINGS, GOAWAY] = [1, 3, 4, 7] as const;
const [END_HEADERS, CANCEL] = [4, 8] as const;

/** A server that ends each call at once, as Proxy past grpc-js and as Connect by it. @returns its port */
async function serve(t: TestContext): Promise<number> {
  const server = createGrpcServer({
    handlers: {
      [CONNECT_PATH]: (call) => {
        const stream = serverPacketStream(call);
        stream.attach(new Told());
        stream.end(0);
      },
    },
    direct: {
      [PROXY_PATH]: (call) => {
        const stream = call.open({});
        stream.attach(new Told());
        stream.end(0);
      },
    },
  });
  const listener = await listen((socket) => {
    // What came with the connection is given to HTTP/2 as one piece, and read before anything of it is told.
    socket.once('data', (chunk) => {
      socket.pause();
      socket.unshift(chunk);
      server.injectConnection(socket);
    });
  });
  t.after(async () => {
    await server.close();
    listener.close();
  });
  return (listener.address() as AddressInfo).port;
}

/** HEADERS of a call: POST, http, and literals. */
function call(stream: number, path: string, contentType: string): Buffer {
  const literal = (text: string): number[] => [text.length, ...Buffer.from(text)];
  const block = [0x83, 0x86, 0x04, ...literal(path), 0x01, ...literal('x')];
  return frame(HEADERS, END_HEADERS, stream, Buffer.from([...block, 0x0f, 0x10, ...literal(contentType)]));
}

async function trailersOf(stream: Http2Stream): Promise<unknown> {
  stream.resume().end();
  const [trailers] = await once(stream, 'trailers');
  return trailers['grpc-status'];
}

async function served(t: TestContext, port: number): Promise<ClientHttp2Session> {
  const client = http2.connect(`http://127.0.0.1:${port}`).on('error', () => {});
  t.after(() => client.destroy());
  assert.equal(await trailersOf(request(client)), '0');
  return client;
}

test('calls that their client takes back in the same breath hurt nobody, also those that nobody serves', async (t) => {
  const port = await serve(t);
  for (const [path, type] of [
    ['/ProxyService/Other', 'application/grpc'],
    [CONNECT_PATH, 'text/plain'],
    [CONNECT_PATH, 'application/grpc'],
    [PROXY_PATH, 'application/grpc'],
  ] as const) {
    for (const code of [CANCEL, 0]) {
      const socket = connect(port, '127.0.0.1');
      const reset = frame(RST_STREAM, 0, 1, Buffer.from([0, 0, 0, code]));
      socket.end(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0), call(1, path, type), reset]));
      await once(socket.resume(), 'close');
    }
  }
  await served(t, port);
});

test('a call that comes with the GOAWAY of its client is served, and not refused in the midst of reading', async (t) => {
  const port = await serve(t);
  for (const path of [CONNECT_PATH, PROXY_PATH]) {
    const client = await served(t, port);
    client.goaway(0);
    assert.equal(await trailersOf(request(client, path)), '0');
  }
});

test('a client that said GOAWAY is disconnected when its last call is over', async (t) => {
  const client = await served(t, await serve(t));
  client.goaway(0);
  const closed = once(client, 'close');
  assert.equal(await trailersOf(request(client)), '0');
  await closed;
});

test('a client that said GOAWAY without a call, and stays, is disconnected', async (t) => {
  const socket = connect(await serve(t), '127.0.0.1');
  socket.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0), frame(GOAWAY, 0, 0, Buffer.alloc(8))]));
  await once(socket.resume(), 'close');
});
