import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { it } from 'node:test';
import { GrpcHost } from '../../src/proxy/admin/service/grpc-host.ts';

it('a connection beyond the bound is ended, and one that ends makes room', async (t) => {
  const host = new GrpcHost({ mostConnections: 2 });
  const listener = createServer((socket) => host.accept(socket)).listen(0, '127.0.0.1');
  t.after(async () => {
    await host.close();
    listener.close();
  });
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const open = async () => {
    const client = connect(port, '127.0.0.1').on('error', () => {});
    await Promise.all([once(client, 'connect'), once(listener, 'connection')]);
    return client;
  };
  const first = await open();
  await open();
  assert.equal(host.connections, 2);
  const third = await open();
  await once(third.resume(), 'close');
  assert.equal(host.connections, 2);
  first.destroy();
  while (host.connections === 2) await new Promise((resolve) => setImmediate(resolve));
  await open();
  assert.equal(host.connections, 2);
});
