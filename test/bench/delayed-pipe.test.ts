import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { pipeDelayed } from '../../bench/link/delayed-pipe.ts';
import { nowMs } from '../../bench/messages.ts';

/** A client, its relay with both directions delayed, and a destination that echoes. */
async function echoBehind(delayMs: number): Promise<{ client: Socket; close(): Promise<void> }> {
  const echo = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket));
  const relay = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({
      port: (echo.address() as AddressInfo).port,
      host: '127.0.0.1',
      allowHalfOpen: true,
    });
    pipeDelayed(near, far, delayMs);
    pipeDelayed(far, near, delayMs);
  });
  for (const server of [echo, relay]) await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect((relay.address() as AddressInfo).port, '127.0.0.1');
  const close = async (): Promise<void> => {
    client.destroy();
    await Promise.all([echo, relay].map((server) => once(server.close(), 'close')));
  };
  return { client, close };
}

test('a long link holds every byte back both ways, and loses none', async () => {
  const delayMs = 30;
  const { client, close } = await echoBehind(delayMs);
  const sent = Buffer.alloc(1_000_000, 'abcdefg');
  const beginMs = nowMs();
  client.end(sent);
  const chunks: Buffer[] = [];
  client.on('data', (chunk) => {
    // At no time earlier: a timer that is late makes a link longer, none makes it shorter.
    if (chunks.length === 0) assert.ok(nowMs() - beginMs >= 2 * delayMs);
    chunks.push(chunk);
  });
  await once(client, 'end');
  assert.ok(Buffer.concat(chunks).equals(sent));
  await close();
});
