import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { Client } from '@grpc/grpc-js';
import { viewOfAgent } from '../../src/proxy/admin/service/agent-view.ts';
import { channelCredentials } from '../../src/proxy/ops/channel-credentials.ts';
import { loadClientTls } from '../../src/proxy/ops/tls-files.ts';
import { clientOptions } from '../../src/proxy/wire/client-options.ts';
import { encodeDataFrame } from '../../src/proxy/wire/encode.ts';
import { blankStatus, PacketType } from '../../src/proxy/wire/packet.ts';
import { dialRequest, status } from '../../src/proxy/wire/packets.ts';
import { AdminCase } from '../peers/admin-case.ts';
import { answering } from '../peers/answering.ts';
import { until } from '../peers/sockets-left.ts';
import type { TestServerOptions } from '../peers/test-server.ts';

const never = new AbortController().signal;
let running: AdminCase | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
});

async function start(server: TestServerOptions = {}): Promise<AdminCase> {
  running = await AdminCase.start({ server });
  return running;
}

describe('an agent', () => {
  it('is a duplicate when two of its instances are alive together for more than 5 s, and until one is gone', async () => {
    const { peers } = await start();
    const conditions = (laterMs: number): readonly string[] | undefined => {
      const at = { monoMs: performance.now() + laterMs, unixMs: Date.now() + laterMs };
      return viewOfAgent(peers.server, 'a', at)?.agent.conditions;
    };
    await peers.agent('a', { instance: 'one' });
    assert.deepEqual(conditions(60_000), []);
    const two = await peers.agent('a', { instance: 'two' });
    assert.deepEqual(conditions(0), []);
    assert.deepEqual(conditions(6_000), ['duplicate']);
    two.stream.abort(1, 'gone');
    await until(() => peers.server.backends.size === 1, 'its end');
    assert.deepEqual(conditions(60_000), []);
  });

  it('is a duplicate when it comes from two addresses, which is all that tells two Go agents of one ID apart', async () => {
    const { peers } = await start();
    const elsewhere = createServer((socket) => {
      const onward = connect({
        port: peers.server.agentPort,
        host: '127.0.0.1',
        localAddress: '127.0.0.2',
      });
      for (const one of [socket, onward]) one.on('error', () => onward.destroy());
      socket.pipe(onward).pipe(socket);
    });
    elsewhere.listen(0, '127.0.0.1');
    await once(elsewhere, 'listening');
    const conditions = (): readonly string[] | undefined => {
      const at = { monoMs: performance.now() + 6_000, unixMs: Date.now() };
      return viewOfAgent(peers.server, 'a', at)?.agent.conditions;
    };
    await peers.agent('a', { kind: 'go' });
    await peers.agent('a', { kind: 'go' });
    assert.deepEqual(conditions(), []);
    const tls = loadClientTls({ caFile: peers.caFile, labels: { cert: 'cert', key: 'key', ca: 'ca' } });
    const { port } = elsewhere.address() as AddressInfo;
    const client = new Client(`127.0.0.1:${port}`, channelCredentials(tls), clientOptions());
    await peers.connect('a', { kind: 'go' }, client);
    await until(() => peers.server.backends.size === 3, 'the third stream');
    assert.deepEqual(conditions(), ['duplicate']);
    client.close();
    elsewhere.close();
  });

  it('is partial while it says that a server takes it for draining which cannot be told otherwise', async () => {
    const { peers, client } = await start();
    const a = await peers.agent('a');
    const conditions = async () => (await client.agent('a', never)).agent.conditions;
    const says = async (stillDraining: string[], tunnels: number): Promise<void> => {
      a.send(status({ ...blankStatus(), serverIds: ['server-1', 'go'], stillDraining, tunnels }));
      await until(() => [...peers.server.backends.all()][0]?.status?.tunnels === tunnels, 'its word');
    };
    await says(['go'], 1);
    assert.deepEqual(await conditions(), ['partial']);
    await says([], 2);
    assert.deepEqual(await conditions(), []);
  });

  it('is unresponsive after three dials that it does not answer, and no longer when it answers one', async () => {
    const { peers, client } = await start({ times: { dialTimeoutMs: 20 } });
    const agent = await peers.agent('a');
    for (let i = 1n; i <= 3n; i++) {
      const frontend = peers.frontend();
      frontend.send(dialRequest(i, '10.0.0.7:1'));
      await frontend.next(PacketType.DIAL_RSP);
    }
    assert.deepEqual((await client.agent('a', never)).agent.conditions, ['unresponsive']);
    const request = await agent.next(PacketType.DIAL_REQ);
    agent.send({ ...request, type: PacketType.DIAL_RSP, connectId: 0, error: 'refused' });
    while ((await client.agent('a', never)).agent.conditions.length > 0);
  });

  it('is overdue once the deadline of its order passed, and stays under the order', async () => {
    const { peers, client } = await start();
    await peers.agent('a');
    await peers.agent('b');
    await client.drain({ agentIds: ['a'], deadlineSeconds: 0.01 }, never);
    for await (const { type } of client.events({ since: new Date(0), follow: true }, never)) {
      if (type === 'order-overdue') break;
    }
    const { agent } = await client.agent('a', never);
    assert.deepEqual([agent.conditions, agent.order?.overdue, agent.state], [['overdue'], true, 'drained']);
  });

  it('is slow while a client of it was not read for a second, and its tunnel is one of the paused ones', async () => {
    const { peers, client } = await start();
    answering(await peers.agent('a'));
    const frontend = peers.frontend();
    frontend.send(dialRequest(1n, '10.0.0.7:1'));
    const { connectId } = await frontend.next(PacketType.DIAL_RSP);
    assert.equal((await client.tunnels({ pausedOnly: true }, never)).total, 0);
    // More than the agent ever grants.
    for (let i = 0; i < 10; i++) frontend.stream.sendFrame(encodeDataFrame(connectId, Buffer.alloc(65_536)));
    while ((await client.tunnels({ pausedOnly: true }, never)).total === 0);
    const view = (laterMs: number) =>
      viewOfAgent(peers.server, 'a', { monoMs: performance.now() + laterMs, unixMs: Date.now() })?.agent;
    assert.deepEqual([view(60_000)?.conditions, view(60_000)?.pausedTunnels], [['slow'], 1]);
    assert.deepEqual(view(-60_000)?.conditions, []);
  });

  it('is drained a second after it was chosen last, and draining again with a fallback dial', async () => {
    const { peers, client } = await start();
    const a = await peers.agent('a');
    answering(a);
    await client.drain({ agentIds: ['a'], force: true }, never);
    const state = (laterMs: number): string | undefined => {
      const at = { monoMs: performance.now() + laterMs, unixMs: Date.now() + laterMs };
      return viewOfAgent(peers.server, 'a', at)?.agent.state;
    };
    assert.equal(state(0), 'drained');
    const frontend = peers.frontend();
    frontend.send(dialRequest(1n, '10.0.0.7:1'));
    assert.equal((await frontend.next(PacketType.DIAL_RSP)).error, '');
    assert.equal(state(60_000), 'draining');
    frontend.stream.abort(1, 'done');
    await until(() => [...peers.server.backends.all()][0]?.tunnels.size === 0, 'its end');
    const [backend] = peers.server.backends.all();
    const sinceMs = (backend?.lastChosenMs ?? 0) - performance.now();
    assert.deepEqual([state(sinceMs + 900), state(sinceMs + 1_100)], ['draining', 'drained']);
  });

  it('is not drained before it says itself that it drains, and where it has other servers not within a second of that', async () => {
    const { peers, client } = await start();
    const a = await peers.agent('a', { features: 'ping,status,order', instance: 'one' });
    await peers.agent('b');
    await client.drain({ agentIds: ['a'] }, never);
    const [backend] = peers.server.backends.registry.streamsOf('a');
    assert.ok(backend);
    const state = (laterMs: number): string | undefined => {
      const at = { monoMs: performance.now() + laterMs, unixMs: Date.now() + laterMs };
      return viewOfAgent(peers.server, 'a', at)?.agent.state;
    };
    assert.equal(state(60_000), 'draining');
    const { order = null } = (await a.next(PacketType.ORDER)).order ?? {};
    const says = async (serverIds: string[], orderNumber: number): Promise<void> => {
      a.send(status({ ...blankStatus(), orderNumber, order, serverIds }));
      await until(() => backend.status?.orderNumber === orderNumber, 'its word');
    };
    await says(['server-1'], 1);
    assert.equal(state(0), 'drained');
    await says(['server-1', 'server-2'], 2);
    const sinceMs = (peers.server.backends.drainsSinceMs(backend) ?? 0) - performance.now();
    assert.deepEqual([state(sinceMs + 900), state(sinceMs + 1_100)], ['draining', 'drained']);
  });

  it('has the tunnels of all its processes together, as each of them counts its own', async () => {
    const { peers } = await start();
    for (const [instance, tunnels] of [
      ['one', 2],
      ['two', 3],
    ] as const) {
      const stream = await peers.agent('a', { instance });
      stream.send(status({ ...blankStatus(), tunnels, serverIds: ['server-1'] }));
    }
    const total = () =>
      viewOfAgent(peers.server, 'a', { monoMs: performance.now(), unixMs: Date.now() })?.agent.tunnels;
    await until(() => total() === 5, 'both words');
  });

  it('that is the last ready one stays so when two operators drain the last two at once', async () => {
    const { peers, client } = await start();
    await peers.agent('a');
    await peers.agent('b');
    const both = await Promise.allSettled(['a', 'b'].map((id) => client.drain({ agentIds: [id] }, never)));
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    assert.equal((await client.orders(never)).length, 1);
  });
});
