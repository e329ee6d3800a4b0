import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { OpeningWatch } from '../../src/proxy/server/authority/opening-watch.ts';
import { encodeFrame } from '../../src/proxy/wire/encode.ts';
import { PacketType } from '../../src/proxy/wire/packet.ts';
import { dialRequest } from '../../src/proxy/wire/packets.ts';
import { PROXY_PATH } from '../../src/proxy/wire/services.ts';
import { frame, PREFACE } from '../peers/http2-frame.ts';
import { TestServer } from '../peers/test-server.ts';

let running: TestServer | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
});

const [DATA, HEADERS, RST_STREAM, SETTINGS] = [0, 1, 3, 4] as const;

const literal = (text: string): number[] => [text.length, ...Buffer.from(text)];

/** Dials as kube-apiserver does on a connection of its own, and tells what came of it. */
async function dial(server: TestServer, authority: string): Promise<'answered' | 'reset'> {
  const socket = connect(server.grpcPath);
  const frames: number[] = [];
  let bytes = Buffer.alloc(0);
  socket.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0)]));
  const outcome = new Promise<'answered' | 'reset'>((resolve, reject) => {
    socket.on('error', reject).on('close', () => reject(new Error(`only frames ${frames}`)));
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      while (bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
        frames.push(bytes[3] as number);
        if (bytes[3] === HEADERS) resolve('answered');
        if (bytes[3] === RST_STREAM) resolve('reset');
        bytes = bytes.subarray(9 + bytes.readUIntBE(0, 3));
      }
    });
  });
  await once(socket, 'data');
  const head = [0x83, 0x86, 0x04, ...literal(PROXY_PATH), 0x01, ...literal(authority)];
  const type = [0x0f, 0x10, ...literal('application/grpc')];
  socket.write(
    Buffer.concat([
      frame(SETTINGS, 1, 0),
      frame(HEADERS, 4, 1, Buffer.from([...head, ...type])),
      frame(DATA, 0, 1, encodeFrame(dialRequest(7n, '10.0.0.1:80'))),
    ]),
  );
  try {
    return await outcome;
  } finally {
    const closed = once(socket, 'close');
    socket.destroy();
    await closed;
  }
}

const OLD = '/etc/x.sock';
const NEW = '%2Fetc%2Fx.sock';

describe('the openings of connections on a Unix socket', () => {
  it('are looked at for 32 clients that need it not, and then no more', () => {
    const watch = new OpeningWatch();
    for (let i = 0; i < 32; i++) {
      assert.equal(watch.on, true);
      watch.looked(false);
    }
    assert.equal(watch.on, false);
  });

  it('are looked at for ever where one client needed it', () => {
    const watch = new OpeningWatch();
    watch.looked(true);
    for (let i = 0; i < 100; i++) watch.looked(false);
    assert.equal(watch.on, true);
  });

  it('let every dial of an old kube-apiserver through, also beside those of new ones', async () => {
    running = await TestServer.start();
    assert.equal(await dial(running, OLD), 'answered');
    for (let i = 0; i < 40; i++) assert.equal(await dial(running, NEW), 'answered');
    assert.equal(await dial(running, OLD), 'answered');
  });

  it('cost an old kube-apiserver that follows many dials of a new one its first, until that connection is closed', async () => {
    running = await TestServer.start();
    for (let i = 0; i < 40; i++) assert.equal(await dial(running, NEW), 'answered');
    assert.equal(await dial(running, OLD), 'reset');
    // The server learns of the end a little later than the client.
    while ((await dial(running, OLD)) === 'reset');
    for (let i = 0; i < 3; i++) assert.equal(await dial(running, OLD), 'answered');
    const frontend = running.frontend();
    frontend.send(dialRequest(1n, '10.0.0.1:80'));
    assert.match((await frontend.next(PacketType.DIAL_RSP)).error, /no agent/i);
  });

  it('are no reason to keep a client that never begins, once they are not looked at any more', async () => {
    running = await TestServer.start({ times: { headTimeoutMs: 50 } });
    for (let i = 0; i < 40; i++) assert.equal(await dial(running, NEW), 'answered');
    const socket = connect(running.grpcPath).resume();
    await once(socket, 'close');
  });
});
