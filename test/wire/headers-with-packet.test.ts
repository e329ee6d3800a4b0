import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { encodeFrame } from '../../src/proxy/wire/encode.ts';
import { createGrpcServer } from '../../src/proxy/wire/grpc-server.ts';
import type { PacketStream } from '../../src/proxy/wire/packet-stream.ts';
import { ping } from '../../src/proxy/wire/packets.ts';
import { serverPacketStream } from '../../src/proxy/wire/server-stream.ts';
import { PROXY_PATH } from '../../src/proxy/wire/services.ts';
import { type Implementation, listen, request, Told } from './stream-subjects.ts';

/**
 * What a client sees of a stream whose headers wait for its first packet: each head, and the trailers if any.
 * @param sent by the client, before it ends its side
 */
async function seenOf(
  which: Implementation,
  run: (stream: PacketStream) => void,
  { told = new Told(), sent = Buffer.alloc(0) } = {},
): Promise<string[]> {
  const take = (stream: PacketStream): void => {
    stream.attach(told);
    run(stream);
  };
  const options = { publicOnly: which === 'public', headersWithPacket: true };
  const server = createGrpcServer(
    which === 'direct'
      ? { handlers: {}, direct: { [PROXY_PATH]: (call) => take(call.open(options)) } }
      : { handlers: { [PROXY_PATH]: (call) => take(serverPacketStream(call, options)) } },
  );
  const listener = await listen((socket) => server.injectConnection(socket));
  const client = http2.connect(`http://127.0.0.1:${(listener.address() as AddressInfo).port}`);
  const seen: string[] = [];
  try {
    const call = request(client, PROXY_PATH);
    call.on('response', (headers) =>
      seen.push(`head ${headers[':status']} ${headers['grpc-status'] ?? '-'}`),
    );
    call.on('trailers', (trailers) => seen.push(`trailers ${trailers['grpc-status']}`));
    call.end(sent);
    call.resume();
    await once(call, 'close');
    return seen;
  } finally {
    client.close();
    listener.close();
    await server.close();
  }
}

for (const which of ['fast', 'public', 'direct'] as const) {
  test(`a ${which} stream that ends without a packet is one head with its status`, async () => {
    assert.deepEqual(await seenOf(which, (stream) => stream.end(0)), ['head 200 0']);
    assert.deepEqual(await seenOf(which, (stream) => stream.end(3, 'no')), ['head 200 3']);
  });

  test(`a ${which} stream that ends behind a packet has a head, and its status behind it`, async () => {
    const seen = await seenOf(which, (stream) => {
      stream.sendFrame(encodeFrame(ping(1)));
      stream.end(0);
    });
    assert.deepEqual(seen, ['head 200 -', 'trailers 0']);
  });

  test(`a ${which} stream that is ended for what came before its first packet says that as the cause`, async () => {
    const told = new Told();
    const sent = Buffer.from([0, 0, 0, 0, 2, 0xff, 0xff]);
    assert.deepEqual(await seenOf(which, () => {}, { told, sent }), ['head 200 3']);
    const { cause, code, details } = await told.ended();
    assert.deepEqual([cause, code], ['malformed', 3]);
    assert.match(details, /^malformed-packet: /);
  });

  test(`a ${which} stream that is given up before its first packet was given up, and not ended`, async () => {
    const told = new Told();
    const seen = await seenOf(which, (stream) => stream.abort(8, 'too slow'), { told });
    assert.deepEqual(seen, ['head 200 8']);
    assert.deepEqual((await told.ended()).cause, 'aborted');
  });
}
