import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { resetSocket } from '../../src/proxy/ops/reset-socket.ts';
import { DestinationServer } from '../peers/destination-server.ts';
import { noSocketsLeft, openSockets } from '../peers/sockets-left.ts';

const states: Record<string, (socket: Socket) => void> = {
  'is open': () => {},
  'was ended in the same turn': (socket) => socket.end(),
  'wrote and was ended in the same turn': (socket) => socket.end('last words'),
  'still has much to write': (socket) => socket.write(Buffer.alloc(64 * 1024 * 1024)),
  'still has much to write before its end': (socket) => socket.end(Buffer.alloc(64 * 1024 * 1024)),
  'is reset twice': (socket) => resetSocket(socket),
  'is destroyed already': (socket) => socket.destroy(),
};

for (const [state, reach] of Object.entries(states)) {
  test(`a socket that ${state} is closed by a reset, and leaves no descriptor`, async () => {
    const before = openSockets();
    const destination = await DestinationServer.start();
    const socket = connect({ port: destination.port, host: '127.0.0.1', allowHalfOpen: true });
    await once(socket, 'connect');
    const peer = await destination.accepted.next();
    reach(socket);
    resetSocket(socket);
    if (!socket.closed) await once(socket, 'close');
    peer.destroy();
    await destination.close();
    await noSocketsLeft(before);
  });
}

test('a socket that is reset while it connects is closed', async () => {
  const before = openSockets();
  const destination = await DestinationServer.start();
  const socket = connect({ port: destination.port, host: '127.0.0.1' });
  resetSocket(socket);
  await once(socket, 'close');
  await destination.close();
  await noSocketsLeft(before);
});
