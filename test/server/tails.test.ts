import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { defaultBufferBounds } from '../../src/proxy/wire/buffers.ts';
import { Pattern } from '../peers/pattern.ts';
import { sendAsGoAgent } from '../peers/slow-reading.ts';
import { until } from '../peers/sockets-left.ts';
import type { TestServerOptions } from '../peers/test-server.ts';
import { startTunnel, type TestTunnel } from '../peers/tunnel.ts';

const MIB = 1024 * 1024;
const bounds = { ...defaultBufferBounds, budgetBytes: 12 * MIB };
const sent = new Pattern(1, 'down');

let tunnels: TestTunnel | undefined;

afterEach(async () => {
  await tunnels?.close();
  assert.ok(Math.abs(tunnels?.server.server.buffers.heldBytes ?? 0) < 1);
  tunnels = undefined;
});

/** A server with an agent that answers a dial with that many bytes and the end. */
async function endsAtOnce(bytes: number, times: TestServerOptions['times'] = {}): Promise<TestTunnel> {
  tunnels = await startTunnel({ server: { bounds, times }, agents: {} });
  sendAsGoAgent(await tunnels.server.agent('go', { kind: 'go' }), bytes, sent);
  return tunnels;
}

for (const mode of ['http-connect', 'grpc'] as const) {
  describe(`what waits for a client by ${mode} behind the end of its tunnel`, () => {
    it('counts as held until the client took it', async () => {
      const { server, dial } = await endsAtOnce(8 * MIB);
      const { counters, buffers } = server.server;
      const client = await dial(mode, '10.0.0.1:80');
      await until(() => counters.closedTunnels.get('endpoint-closed') === 1, 'the end of the tunnel');
      assert.ok(buffers.heldBytes > 4 * MIB, `${buffers.heldBytes} bytes`);
      let taken = 0;
      client.on('data', (chunk: Buffer) => {
        taken += chunk.length;
      });
      await new Promise((resolve) => client.once('end', resolve));
      assert.equal(taken, 8 * MIB);
      await until(() => Math.abs(buffers.heldBytes) < 1, 'nothing held');
      client.destroy();
    });

    it('is dropped when others need the room', async () => {
      const { server, dial } = await endsAtOnce(8 * MIB);
      const { counters, buffers } = server.server;
      const first = await dial(mode, '10.0.0.1:80');
      first.on('error', () => {});
      await until(() => counters.closedTunnels.get('endpoint-closed') === 1, 'the end of the tunnel');
      const second = await dial(mode, '10.0.0.1:80');
      second.on('error', () => {});
      const frontends = (): number => counters.connectFrontends + counters.grpcFrontends;
      await until(() => frontends() === 1, 'one of the two is cut');
      assert.ok(buffers.heldBytes <= bounds.budgetBytes, `${buffers.heldBytes} bytes`);
      assert.match(await server.logged('Dropped what a client did not take'), /why="budget"/);
      first.destroy();
      second.destroy();
      await until(() => frontends() === 0, 'no client left');
    });
  });
}

it('what waits for a CONNECT client that takes nothing of it for long is dropped, which is said', async () => {
  const { server, dial } = await endsAtOnce(8 * MIB, { tailMs: 20 });
  const { counters } = server.server;
  const client = await dial('http-connect', '10.0.0.1:80');
  client.on('error', () => {});
  assert.match(await server.logged('Dropped what a client did not take'), / bytes=\d+ why="taken-nothing"/);
  await until(() => counters.connectFrontends === 0, 'the cut');
  assert.equal(counters.closedTunnels.get('endpoint-closed'), 1);
  client.destroy();
});
