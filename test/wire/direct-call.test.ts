import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2, { type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createGrpcServer } from '../../src/proxy/wire/grpc-server.ts';
import { PROXY_PATH } from '../../src/proxy/wire/services.ts';
import { listen, Told } from './stream-subjects.ts';

/** What a client is answered that calls a server whose Proxy calls go past grpc-js, and what the service was told. */
async function answerTo(headers: Record<string, string>) {
  const taken: (string | undefined)[] = [];
  const server = createGrpcServer({
    handlers: {},
    direct: {
      [PROXY_PATH]: (call) => {
        taken.push(call.userAgent);
        assert.match(call.peer, /^127\.0\.0\.1:\d+$/);
        const stream = call.open({ headersWithPacket: true });
        stream.attach(new Told());
        if (headers['grpc-timeout'] === undefined) stream.end(3, 'naïve: 100 % ');
      },
    },
  });
  const listener = await listen((socket) => server.injectConnection(socket));
  const client = http2.connect(`http://127.0.0.1:${(listener.address() as AddressInfo).port}`);
  try {
    const request = client.request({
      ':method': 'POST',
      ':path': PROXY_PATH,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    });
    let answer: IncomingHttpHeaders = {};
    request.on('response', (head) => {
      answer = head;
    });
    request.resume().end();
    await once(request, 'close');
    return { answer, taken };
  } finally {
    client.close();
    listener.close();
    await server.close();
  }
}

test('a call past grpc-js tells who the client is, and its status reaches the client percent-encoded', async () => {
  const { answer, taken } = await answerTo({ 'user-agent': 'grpc-go/1.80.0' });
  assert.deepEqual(taken, ['grpc-go/1.80.0']);
  assert.equal(answer['grpc-status'], '3');
  assert.equal(answer['grpc-message'], 'na%C3%AFve:%20100%20%25%20');
});

test('a call with a deadline ends at it', async () => {
  const { answer } = await answerTo({ 'grpc-timeout': '10m' });
  assert.equal(answer['grpc-status'], '4');
});

test('what is no gRPC or no POST is refused, and a method that nobody serves is unimplemented', async () => {
  const head = await answerTo({ ':method': 'HEAD' });
  assert.deepEqual([head.answer[':status'], head.taken], [405, []]);
  const plain = await answerTo({ 'content-type': 'application/json' });
  assert.deepEqual([plain.answer[':status'], plain.taken], [415, []]);
  const unknown = await answerTo({ ':path': '/ProxyService/Other' });
  assert.deepEqual([unknown.answer['grpc-status'], unknown.taken], ['12', []]);
});

test('a path that is the name of something all objects have is a method that nobody serves', async () => {
  for (const path of ['__proto__', 'constructor', 'hasOwnProperty', 'toString']) {
    // Of http and https paths begin with a slash; of others HTTP/2 asks nothing.
    const { answer, taken } = await answerTo({ ':scheme': 'x', ':path': path });
    assert.deepEqual([answer['grpc-status'], taken], ['12', []], path);
  }
});
