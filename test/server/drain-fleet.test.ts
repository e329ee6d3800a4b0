import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { Client } from '@grpc/grpc-js';
import { channelCredentials } from '../../src/proxy/ops/channel-credentials.ts';
import { loadClientTls } from '../../src/proxy/ops/tls-files.ts';
import { clientOptions } from '../../src/proxy/wire/client-options.ts';
import { Balancer } from '../peers/balancer.ts';
import { Pki } from '../peers/pki.ts';
import { type RealAgent, startRealAgent } from '../peers/real-agent.ts';
import { ScriptedStream } from '../peers/scripted-stream.ts';
import { until } from '../peers/sockets-left.ts';
import { TestServer, type TestServerOptions } from '../peers/test-server.ts';

const alice = { actor: 'alice', actorClaimed: false };

/** Servers behind one address, and real agents of ours that connect to all of them. */
class Fleet {
  readonly pki = new Pki();
  readonly servers: TestServer[] = [];
  readonly directory = mkdtempSync(join(tmpdir(), 'kts-fleet-'));
  balancer!: Balancer;
  readonly #agents: RealAgent[] = [];
  readonly #clients: Client[] = [];
  #tls!: { certFile: string; keyFile: string; caFile: string };
  #caFile = '';

  async start(): Promise<void> {
    const ca = await this.pki.authority('CA');
    const leaf = await this.pki.server(ca);
    this.#caFile = ca.certFile;
    this.#tls = { certFile: leaf.certFile, keyFile: leaf.keyFile, caFile: '' };
    for (const index of [0, 1]) await this.startServer(index);
    this.balancer = await Balancer.start(this.servers.map(({ server }) => server.agentPort));
  }

  async startServer(index: number, keepsOrders = true): Promise<void> {
    const options: TestServerOptions = {
      serverId: `server-${index}`,
      serverCount: 2,
      agents: { host: '127.0.0.1', port: 0, tls: this.#tls },
      ...(keepsOrders ? { stateDirectory: join(this.directory, String(index)) } : {}),
    };
    this.servers[index] = await TestServer.start(options);
    if (this.balancer !== undefined) this.balancer.targets[index] = this.at(index).agentPort;
  }

  /** Connects an agent to both servers, and waits for it. */
  async agent(agentId: string, draining = false): Promise<RealAgent> {
    const agent = await startRealAgent(this.servers[0] as TestServer, agentId, {
      times: {
        syncIntervalMs: 20,
        syncIntervalCapMs: 50,
        firstRetriesMs: [10, 10],
        retryMs: 20,
        statusIntervalMs: 1,
        // One that leaves stays until it is stopped.
        leaveReplacedMs: 3_600_000,
      },
      via: { port: this.balancer.port, caFile: this.#caFile },
    });
    this.#agents.push(agent);
    await this.everywhere(agentId, draining);
    return agent;
  }

  /** Connects a scripted Go agent. */
  async goAgent(agentId: string, servers: readonly TestServer[] = this.servers): Promise<void> {
    const tls = loadClientTls({ caFile: this.#caFile, labels: { cert: 'cert', key: 'key', ca: 'ca' } });
    for (const server of servers) {
      const address = `127.0.0.1:${server.server.agentPort}`;
      const client = new Client(address, channelCredentials(tls), clientOptions());
      this.#clients.push(client);
      new ScriptedStream((await server.connect(agentId, { kind: 'go' }, client)).stream);
      const { registry } = server.server.backends;
      await until(
        () => registry.streamsOf(agentId).length === 1,
        `${agentId} at ${server.server.options.serverId}`,
      );
    }
  }

  at(index: number) {
    return (this.servers[index] as TestServer).server;
  }

  /** Waits until that agent is connected to both servers, and draining at both or at none. */
  everywhere(agentId: string, draining: boolean): Promise<void> {
    return until(
      () =>
        this.servers.every(({ server: { backends } }) => {
          const states = backends.registry.streamsOf(agentId).map((one) => backends.registry.stateOf(one));
          return states.length > 0 && states.every((one) => one?.announced && one.draining === draining);
        }),
      `${agentId} ${draining ? 'draining' : 'ready'} at both servers`,
    );
  }

  async close(): Promise<void> {
    await Promise.all(this.#agents.map((agent) => agent.stop()));
    for (const client of this.#clients) client.close();
    this.balancer.close();
    await Promise.all(this.servers.map((server) => server.close()));
    this.pki.remove();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

describe('an order placed at one of two servers', () => {
  let fleet: Fleet;
  beforeEach(async () => {
    fleet = new Fleet();
    await fleet.start();
    await fleet.agent('b');
  });
  afterEach(() => fleet.close());

  it('holds at the other as well, where it is relayed, and can be ended there', async () => {
    await fleet.agent('a');
    const [placed] = fleet.at(0).drain.drain({ agentIds: ['a'], reason: 'kernel', ...alice });
    await fleet.everywhere('a', true);
    const relayed = fleet.at(1).drain.orderOf('a');
    assert.deepEqual([relayed?.id, relayed?.reason, relayed?.relayed], [placed?.order.id, 'kernel', true]);
    await until(() => fleet.at(0).drain.orderOf('a')?.acknowledged === true, 'the word of the agent');
    fleet.at(1).drain.undrain({ agentIds: ['a'], ...alice });
    await fleet.everywhere('a', false);
    assert.equal(fleet.at(0).drain.orderOf('a'), undefined);
  });

  it('meets a new process of the agent, which is then draining at both', async () => {
    const first = await fleet.agent('a');
    fleet.at(0).drain.drain({ agentIds: ['a'], ...alice });
    await fleet.everywhere('a', true);
    await first.stop();
    await until(() => !fleet.at(1).backends.registry.streamsOf('a').length, 'the end of the streams');
    await fleet.agent('a', true);
    const views = [0, 1].map((index) => fleet.at(index).drain.orderOf('a')?.actor);
    assert.deepEqual(views, ['alice', 'alice']);
  });

  it('outlives a restart of its server, and the end of it too', async () => {
    await fleet.agent('a');
    const [placed] = fleet.at(0).drain.drain({ agentIds: ['a'], reason: 'kernel', ...alice });
    await fleet.everywhere('a', true);
    await fleet.servers[0]?.close();
    await fleet.startServer(0);
    assert.deepEqual(
      [fleet.at(0).drain.orderOf('a')?.id, fleet.at(0).drain.orderOf('a')?.relayed],
      [placed?.order.id, false],
    );
    await fleet.everywhere('a', true);
    fleet.at(0).drain.undrain({ agentIds: ['a'], ...alice });
    await fleet.everywhere('a', false);
  });

  it('until restart stays when all streams break, and ends at both when a new process connects', async () => {
    const first = await fleet.agent('a');
    fleet.at(0).drain.drain({ agentIds: ['a'], until: 'restart', ...alice });
    await fleet.everywhere('a', true);
    const before = [0, 1].map((index) => fleet.at(index).backends.registry.streamsOf('a')[0]);
    fleet.balancer.cut();
    await until(
      () => [0, 1].every((index) => !before.includes(fleet.at(index).backends.registry.streamsOf('a')[0])),
      'other streams',
    );
    await fleet.everywhere('a', true);
    await first.stop();
    await fleet.agent('a', false);
    assert.deepEqual([fleet.at(0).drain.orders(), fleet.at(1).drain.orders()], [[], []]);
  });

  it('comes back to its server after a restart without a state directory, through the agent, and is ended there', async () => {
    await fleet.agent('a');
    const [placed] = fleet.at(0).drain.drain({ agentIds: ['a'], reason: 'kernel', ...alice });
    await fleet.everywhere('a', true);
    await fleet.servers[0]?.close();
    await fleet.startServer(0, false);
    assert.equal(fleet.at(0).drain.orderOf('a'), undefined);
    await fleet.everywhere('a', true);
    const { id, reason, relayed } = fleet.at(0).drain.orderOf('a') ?? {};
    assert.deepEqual([id, reason, relayed], [placed?.order.id, 'kernel', true]);
    fleet.at(0).drain.undrain({ agentIds: ['a'], ...alice });
    await fleet.everywhere('a', false);
    assert.equal(fleet.at(1).drain.orderOf('a'), undefined);
  });

  it('of an agent that leaves stays an order, and leaving counts', async () => {
    const agent = await fleet.agent('a');
    agent.agent.leave();
    await fleet.everywhere('a', true);
    const [placed] = fleet.at(0).drain.drain({ agentIds: ['a'], ...alice });
    assert.match(placed?.notes.join() ?? '', /agent a is shutting down since \d\d:\d\d/);
    await until(() => fleet.at(1).drain.orderOf('a')?.relayed === true, 'the order at the other server');
    const [ended] = fleet.at(1).drain.undrain({ agentIds: ['a'], ...alice });
    assert.match(ended?.notes.join() ?? '', /the order ends, but a is shutting down .* only a new process/);
    await until(() => fleet.at(0).drain.orderOf('a') === undefined, 'the end of the order');
    for (const index of [0, 1]) {
      const { registry } = fleet.at(index).backends;
      assert.equal(
        registry.streamsOf('a').every((one) => registry.stateOf(one)?.draining === true),
        true,
      );
    }
  });

  it('of a Go agent is known there alone, and a restart without a state directory loses it', async () => {
    await fleet.goAgent('g');
    fleet.at(0).drain.drain({ agentIds: ['g'], ...alice });
    const drains = (index: number): boolean | undefined => {
      const { registry } = fleet.at(index).backends;
      const [stream] = registry.streamsOf('g');
      return stream && registry.stateOf(stream)?.draining;
    };
    assert.deepEqual([drains(0), drains(1)], [true, false]);
    assert.equal(fleet.at(1).drain.orderOf('g'), undefined);
    await fleet.servers[0]?.close();
    await fleet.startServer(0, false);
    await fleet.goAgent('g', fleet.servers.slice(0, 1));
    assert.equal(drains(0), false);
  });

  it('and one placed at the other in the same moment become one, and one undrain ends it', async () => {
    await fleet.agent('a');
    fleet.at(0).drain.drain({ agentIds: ['a'], reason: 'one', ...alice });
    fleet.at(1).drain.drain({ agentIds: ['a'], reason: 'two', actor: 'bob', actorClaimed: false });
    const views = () => [0, 1].map((index) => fleet.at(index).drain.orderOf('a'));
    await until(
      () => views().every((one) => one?.acknowledged) && views()[0]?.id === views()[1]?.id,
      'one order at both',
    );
    fleet.at(0).drain.undrain({ agentIds: ['a'], ...alice });
    await fleet.everywhere('a', false);
    assert.deepEqual(views(), [undefined, undefined]);
  });

  it('with an ID that both are given is stored at both', async () => {
    await fleet.agent('a');
    const orderIds = new Map([['a', 'shared']]);
    for (const index of [0, 1]) fleet.at(index).drain.drain({ agentIds: ['a'], orderIds, ...alice });
    await fleet.everywhere('a', true);
    for (const index of [0, 1]) {
      const order = fleet.at(index).drain.orderOf('a');
      assert.deepEqual([order?.id, order?.relayed, order?.version], ['shared', false, 1]);
    }
  });
});
