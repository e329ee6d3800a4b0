import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { Fault } from '../../src/proxy/ops/fault.ts';
import { listenTcp } from '../../src/proxy/ops/listen-tcp.ts';
import { bindFault, surviveAcceptErrors } from '../../src/proxy/ops/listener.ts';
import { type Log, silentLog } from '../../src/proxy/ops/log.ts';
import { deferred } from '../peers/deferred.ts';

const label = '--server-port';

function listen(
  host: string,
  port: number,
  onConnection: (socket: Socket) => void = (socket) => socket.destroy(),
) {
  return listenTcp({ host, port, label, log: silentLog, onConnection });
}

test('a port in use is named with its flag and address', async () => {
  const first = await listen('127.0.0.1', 0);
  await assert.rejects(listen('127.0.0.1', first.port), (error: unknown) => {
    assert.ok(error instanceof Fault);
    assert.equal(error.code, 'port-in-use');
    assert.match(error.line, new RegExp(`^--server-port: .*127\\.0\\.0\\.1:${first.port}; .*--server-port$`));
    return true;
  });
  await first.close();
});

test('an empty host listens on all addresses of both families', async () => {
  const peers = [deferred<Socket>(), deferred<Socket>()];
  let next = 0;
  const listener = await listen('', 0, (socket) => peers[next++]?.resolve(socket));
  for (const [index, host] of ['127.0.0.1', '::1'].entries()) {
    const client = connect({ host, port: listener.port });
    await once(client, 'connect');
    (await peers[index]?.promise)?.destroy();
    await once(client.resume(), 'close');
  }
  await listener.close();
});

test('the end of the client leaves our side open', async () => {
  const accepted = deferred<Socket>();
  const listener = await listen('127.0.0.1', 0, accepted.resolve);
  const client = connect({ host: '127.0.0.1', port: listener.port, allowHalfOpen: true });
  client.end();
  const socket = await accepted.promise;
  await once(socket.resume(), 'end');
  socket.end('still here');
  const [data] = await once(client, 'data');
  assert.equal(String(data), 'still here');
  await listener.close();
});

test('a reset of an accepted socket is not an uncaught error', async () => {
  const accepted = deferred<Socket>();
  const listener = await listen('127.0.0.1', 0, accepted.resolve);
  const client = connect({ host: '127.0.0.1', port: listener.port });
  const socket = await accepted.promise;
  const closed = new Promise((resolve) => socket.resume().once('close', resolve));
  client.resetAndDestroy();
  await closed;
  await listener.close();
});

test('closing frees the port at once and leaves accepted sockets alone', async () => {
  const accepted = deferred<Socket>();
  const listener = await listen('127.0.0.1', 0, accepted.resolve);
  const client = connect({ host: '127.0.0.1', port: listener.port });
  const socket = await accepted.promise;
  await listener.close();
  await listener.close();
  const again = await listen('127.0.0.1', listener.port);
  await again.close();
  socket.end('alive');
  const [data] = await once(client, 'data');
  assert.equal(String(data), 'alive');
});

test('an address of another machine is refused', async () => {
  await assert.rejects(listen('192.0.2.1', 0), { code: 'address-not-available' });
});

test('missing rights are said', () => {
  const error = Object.assign(new Error('listen EACCES'), { code: 'EACCES' });
  assert.equal(bindFault(error, { address: '*:80', label }).code, 'address-not-permitted');
});

test('running out of descriptors warns once and does not end the server', async () => {
  const warnings: string[] = [];
  const log: Log = {
    ...silentLog,
    warning: (message, fields) => warnings.push(`${message}: ${fields?.error}`),
  };
  const server = createServer();
  surviveAcceptErrors(server, log, '127.0.0.1:1');
  for (let i = 0; i < 3; i++) server.emit('error', Object.assign(new Error('accept'), { code: 'EMFILE' }));
  assert.deepEqual(warnings, ['a connection could not be accepted: out of file descriptors']);
});
