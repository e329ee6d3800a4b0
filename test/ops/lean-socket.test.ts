import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { test } from 'node:test';
import { acceptLean, leanConnect } from '../../src/proxy/ops/lean-socket.ts';

async function listening(allowHalfOpen: boolean): Promise<{ server: Server; port: number }> {
  const server = createServer({ allowHalfOpen, noDelay: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  acceptLean(server);
  return { server, port: (server.address() as AddressInfo).port };
}

async function accepted(server: Server, client: Socket): Promise<Socket> {
  const [[socket]] = await Promise.all([
    once(server, 'connection') as Promise<[Socket]>,
    once(client, 'connect'),
  ]);
  return socket;
}

test('an accepted lean socket answers behind the end of its client', async () => {
  const { server, port } = await listening(true);
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const socket = await accepted(server, client);
  client.end('question');
  let heard = '';
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) heard += chunk;
  socket.end('answer');
  let answer = '';
  for await (const chunk of client) answer += chunk;
  assert.deepEqual([heard, answer], ['question', 'answer']);
  server.close();
});

test('a server without half-open sockets ends an accepted lean socket with its client', async () => {
  const { server, port } = await listening(false);
  const client = connect({ port, host: '127.0.0.1' });
  const socket = await accepted(server, client);
  socket.resume();
  client.end();
  await once(socket, 'close');
  client.destroy();
  server.close();
});

test('a server counts its lean sockets in and out, and closes when the last one is gone', async () => {
  const { server, port } = await listening(true);
  const client = connect({ port, host: '127.0.0.1' });
  const socket = await accepted(server, client);
  const closed = once(server, 'close');
  server.close();
  assert.equal(server.listening, false);
  const count = await new Promise((resolve) => server.getConnections((_error, open) => resolve(open)));
  assert.equal(count, 1);
  client.destroy();
  socket.destroy();
  await closed;
});

test('a failed accept is still the error of its server', async () => {
  const { server } = await listening(true);
  const failed = once(server, 'error') as Promise<[NodeJS.ErrnoException]>;
  (server as unknown as { _handle: { onconnection(error: number): void } })._handle.onconnection(-24);
  assert.equal((await failed)[0].code, 'EMFILE');
  server.close();
});

test('a lean socket connects, and may end its side before the other does', async () => {
  const { server, port } = await listening(true);
  const client = leanConnect('127.0.0.1', port);
  const socket = await accepted(server, client);
  socket.end('good-bye');
  let heard = '';
  for await (const chunk of client.iterator({ destroyOnReturn: false })) heard += chunk;
  assert.equal(heard, 'good-bye');
  assert.equal(client.writable, true);
  client.end();
  socket.resume();
  await once(socket, 'close');
  client.destroy();
  server.close();
});
