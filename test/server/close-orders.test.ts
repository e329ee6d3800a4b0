import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { readHead, requestConnect } from '../peers/connect-request.ts';
import { type RealAgent, startRealAgent } from '../peers/real-agent.ts';
import { TestServer } from '../peers/test-server.ts';

const TUNNELS = 250;
const AT_ONCE = 25;

const descriptors = (): number => readdirSync('/proc/self/fd').length;

/** Waits, turn by turn of the event loop, until a condition holds. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

for (const publicStreams of [false, true]) {
  describe(`a thousand tunnels (${publicStreams ? 'public' : 'fast'} streams)`, () => {
    let server: TestServer;
    let agent: RealAgent;
    let target: Server;
    /** Tunnels say their number first, so that both ends of each are known. */
    const arrivals = new Map<number, (endpoint: Socket) => void>();
    let last = 0;

    before(async () => {
      server = await TestServer.start({ publicStreams });
      agent = await startRealAgent(server, 'a', { publicStreams });
      target = createServer({ allowHalfOpen: true }, (socket) => {
        socket.on('error', () => {});
        socket.once('data', (number: Buffer) => arrivals.get(number.readUInt32BE(0))?.(socket));
      }).listen(0, '127.0.0.1');
      await once(target, 'listening');
    });

    after(async () => {
      await agent.stop();
      await server.close();
      target.close();
    });

    /** Opens tunnels in batches, ends each by `end`, and waits until nothing is left of them. */
    async function openAndEnd(end: (client: Socket, endpoint: Socket) => void): Promise<void> {
      const { counters } = server.server;
      const start = descriptors();
      const one = async (): Promise<void> => {
        const client = await server.connectSocket();
        const number = ++last;
        const arrived = new Promise<Socket>((resolve) => arrivals.set(number, resolve));
        requestConnect(client, `127.0.0.1:${(target.address() as AddressInfo).port}`);
        await readHead(client);
        const bytes = Buffer.alloc(4);
        bytes.writeUInt32BE(number);
        client.write(bytes);
        const endpoint = await arrived;
        client.on('data', () => {});
        const gone = [client, endpoint].map((socket) => once(socket, 'close'));
        end(client, endpoint);
        await Promise.all(gone);
      };
      for (let i = 0; i < TUNNELS; i += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, one));
      await until(
        () =>
          counters.establishedTunnels === 0 &&
          counters.connectFrontends === 0 &&
          agent.agent.counts.openEndpoints === 0 &&
          agent.agent.status.tunnels === 0,
      );
      await until(() => descriptors() <= start);
      assert.equal(counters.pendingDials, 0);
      assert.deepEqual(
        server.lines.all.filter((line) => line.startsWith('W') || line.startsWith('E')),
        [],
      );
    }

    const bothEnd = (first: Socket, second: Socket): void => {
      second.once('end', () => second.end());
      second.resume();
      first.resume();
      first.end();
    };

    it('leave nothing when the client ends first', () => openAndEnd(bothEnd));

    it('leave nothing when the destination ends first', () =>
      openAndEnd((client, endpoint) => bothEnd(endpoint, client)));

    it('leave nothing when the client breaks off', () =>
      openAndEnd((client, endpoint) => {
        endpoint.resume();
        endpoint.once('end', () => endpoint.end());
        client.destroy();
      }));

    it('leave nothing when the destination breaks off', () =>
      openAndEnd((client, endpoint) => {
        client.resume();
        client.once('end', () => client.end());
        endpoint.resetAndDestroy();
      }));
  });
}
