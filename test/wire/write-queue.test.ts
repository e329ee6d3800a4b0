import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { WriteQueue } from '../../src/proxy/wire/write-queue.ts';
import { DestinationServer, readAll } from '../peers/destination-server.ts';

const TOTAL = 16 * 1024 * 1024;

async function withQueue(
  run: (queue: WriteQueue, socket: Socket, peer: Socket) => Promise<void>,
): Promise<void> {
  const destination = await DestinationServer.start();
  const socket = connect({ port: destination.port, host: '127.0.0.1', allowHalfOpen: true });
  await once(socket, 'connect');
  const queue = new WriteQueue(socket);
  socket.on('drain', () => queue.drained());
  try {
    await run(queue, socket, await destination.accepted.next());
  } finally {
    socket.destroy();
    await destination.close();
  }
}

test('what a slow destination takes is seen bit by bit, not only when it has taken all', () =>
  withQueue(async (queue, socket, peer) => {
    const seen = new Set<number>();
    socket.on('drain', () => seen.add(queue.bufferedBytes));
    for (let sent = 0; sent < TOTAL; sent += 65_536) queue.write(Buffer.alloc(65_536));
    assert.ok(queue.bufferedBytes > TOTAL / 2);
    const all = readAll(peer);
    queue.end(() => {});
    assert.equal((await all).length, TOTAL);
    // How many depends on what the kernel takes at once.
    assert.ok(seen.size > 1, `${seen.size} steps`);
    assert.equal(queue.bufferedBytes, 0);
  }));

test('the end comes behind all that was written, in order', () =>
  withQueue(async (queue, _socket, peer) => {
    let expected = '';
    for (let i = 0; i < 60_000; i++) {
      const line = `line ${i} ${'x'.repeat(i % 200)}\n`;
      expected += line;
      queue.write(Buffer.from(line));
    }
    queue.end(() => {});
    assert.ok((await readAll(peer)).equals(Buffer.from(expected)));
  }));

test('what was cleared is not written, and a cleared end does not come', () =>
  withQueue(async (queue, _socket, peer) => {
    for (let sent = 0; sent < TOTAL; sent += 65_536) queue.write(Buffer.alloc(65_536));
    queue.end(() => assert.fail('ended'));
    queue.clear();
    const all = readAll(peer);
    queue.write(Buffer.from('last'));
    queue.end(() => {});
    const got = await all;
    assert.ok(got.length < TOTAL / 2);
    assert.equal(got.subarray(-4).toString(), 'last');
  }));
