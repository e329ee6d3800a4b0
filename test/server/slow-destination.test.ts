import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { it } from 'node:test';
import { deferred } from '../peers/deferred.ts';
import { Pattern } from '../peers/pattern.ts';
import { readUntil, takeSlowly } from '../peers/slow-reading.ts';
import { until } from '../peers/sockets-left.ts';
import { startDestination, startTunnel } from '../peers/tunnel.ts';

const MIB = 1024 * 1024;
const BYTES = 12 * MIB;
const sent = new Pattern(1, 'up');

for (const [mode, reason] of [
  ['http-connect', 'half-close-timeout'],
  ['grpc', 'frontend-closed'],
] as const) {
  it(`a destination that still reads when its tunnel is over gets every byte that a client by ${mode} sent`, async () => {
    // Long enough for a machine that stands still for a moment while the destination takes all of it.
    const tunnels = await startTunnel({ server: { times: { halfCloseTimeoutMs: 500 } } });
    const accepted = deferred<Socket>();
    const destination = await startDestination((socket) => accepted.resolve(socket));
    const { backends, buffers, counters } = tunnels.server.server;
    try {
      const client = await tunnels.dial(mode, destination.address);
      client.on('error', () => {}).resume();
      client.end(sent.bytes(0, BYTES));
      const [tunnel] = [...backends.all()].flatMap((backend) => [...backend.tunnels.values()]);
      const socket = await accepted.promise;
      // From here on it is the agent that has the rest.
      const taken = await readUntil(socket, () => tunnel?.bytesToNode === BYTES, sent);
      assert.ok(taken < BYTES);
      await until(() => counters.closedTunnels.get(reason) === 1, 'the end of the tunnel');
      await takeSlowly(socket, { bytes: BYTES, chunkBytes: MIB, everyMs: 0 }, sent, 'ends', taken);
      await until(() => counters.establishedTunnels + counters.connectFrontends === 0, 'nothing left');
      assert.ok(buffers.heldBytes < 1);
    } finally {
      destination.close();
      await tunnels.close();
    }
  });
}
