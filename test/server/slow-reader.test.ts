import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { readHead, requestConnect } from '../peers/connect-request.ts';
import { Pattern } from '../peers/pattern.ts';
import { readUntil, type SlowReading, sendAsGoAgent, takeSlowly } from '../peers/slow-reading.ts';
import { until } from '../peers/sockets-left.ts';
import { startDestination, startTunnel, type TestTunnel, unusedAddress } from '../peers/tunnel.ts';

const MIB = 1024 * 1024;
/** A sixteenth of the real sizes, a fortieth of the real times. */
const bounds = { softBytes: MIB, hardBytes: 8 * MIB, stallMs: 750, budgetBytes: 512 * MIB };
/** Long enough above the soft bound that a reader that took nothing would be cut. */
const reading: SlowReading = { bytes: 4 * MIB, chunkBytes: 64 * 1024, everyMs: 25 };
const sent = new Pattern(1, 'down');

let tunnels: TestTunnel | undefined;

afterEach(async () => {
  await tunnels?.close();
  assert.ok((tunnels?.server.server.buffers.heldBytes ?? 0) < 1);
  tunnels = undefined;
});

for (const mode of ['http-connect', 'grpc'] as const) {
  describe(`a client by ${mode}`, () => {
    it('that reads slowly, but reads on, gets every byte from our agent', async () => {
      tunnels = await startTunnel({ server: { bounds } });
      const source = await startDestination((socket) => socket.end(sent.bytes(0, reading.bytes)));
      await takeSlowly(await tunnels.dial(mode, source.address), reading, sent);
      source.close();
    });

    for (const end of ['ends', 'stays'] as const) {
      it(`that reads slowly, but reads on, gets every byte that a Go agent sends at once and then ${end}`, async () => {
        tunnels = await startTunnel({ server: { bounds }, agents: {} });
        sendAsGoAgent(await tunnels.server.agent('go', { kind: 'go' }), reading.bytes, sent, end);
        await takeSlowly(await tunnels.dial(mode, '10.0.0.1:80'), reading, sent, end);
      });
    }

    it('that pauses gets every byte of a Go agent, while no more than the soft bound waits', async () => {
      const short = { ...bounds, stallMs: 100 };
      tunnels = await startTunnel({
        server: { bounds: short, strategies: ['destHost', 'default'] },
        agents: {},
      });
      const { buffers, counters } = tunnels.server.server;
      const bytes = 768 * 1024;
      const go = await tunnels.server.agent('go', { kind: 'go' });
      sendAsGoAgent(go, bytes, sent, 'ends');
      const paused = await tunnels.dial(mode, '10.0.0.2:80');
      await until(() => buffers.heldBytes > 128 * 1024, 'bytes wait for it');
      // How long the pause is, another tunnel tells, for which more waits: it is cut in the meantime.
      const more = await tunnels.server.agent('more', { kind: 'go', identifiers: 'ipv4=10.0.0.1' });
      sendAsGoAgent(more, reading.bytes, sent, 'stays');
      const cut = await tunnels.dial(mode, '10.0.0.1:80');
      await until(() => counters.closedTunnels.get('slow-consumer') === 1, 'the other is cut');
      cut.destroy();
      await takeSlowly(paused, { bytes, chunkBytes: 64 * 1024, everyMs: 0 }, sent);
    });

    it('that pauses behind the end of its tunnel gets every byte, however long a refusal would be kept for it', async () => {
      tunnels = await startTunnel({ server: { times: { lingerMs: 20 } } });
      const source = await startDestination((socket) => socket.end(sent.bytes(0, reading.bytes)));
      const { counters } = tunnels.server.server;
      const paused = await tunnels.dial(mode, source.address);
      // Reads until no more is left than the server holds.
      const taken = await readUntil(paused, () => counters.closedTunnels.get('endpoint-closed') === 1, sent);
      assert.ok(taken < reading.bytes);
      const server = tunnels.server;
      for (let lingers = 0; lingers < 4; lingers++) {
        // A client that does not end its own side is let go after the linger.
        const refused = await server.connectSocket();
        requestConnect(refused, await unusedAddress());
        await readHead(refused);
        await until(
          () => counters.connectFrontends === (mode === 'grpc' ? 0 : 1),
          'the refused one is let go',
        );
      }
      await takeSlowly(paused, { bytes: reading.bytes, chunkBytes: MIB, everyMs: 0 }, sent, 'ends', taken);
      source.close();
    });

    it('that pauses for longer than bytes of a Go agent would be kept gets every byte from our agent', async () => {
      const short = { ...bounds, stallMs: 100 };
      tunnels = await startTunnel({ server: { bounds: short, strategies: ['destHost', 'default'] } });
      const { counters } = tunnels.server.server;
      const source = await startDestination((socket) => socket.end(sent.bytes(0, 32 * MIB)));
      const paused = await tunnels.dial(mode, source.address);
      // How long the pause is, another tunnel tells, that of a Go agent: it is cut in the meantime.
      const go = await tunnels.server.agent('go', { kind: 'go', identifiers: 'ipv4=10.0.0.1' });
      sendAsGoAgent(go, reading.bytes, sent, 'stays');
      const cut = await tunnels.dial(mode, '10.0.0.1:80');
      await until(() => counters.closedTunnels.get('slow-consumer') === 1, 'the other is cut');
      cut.destroy();
      await takeSlowly(paused, { bytes: 32 * MIB, chunkBytes: MIB, everyMs: 0 }, sent);
      source.close();
    });
  });
}
