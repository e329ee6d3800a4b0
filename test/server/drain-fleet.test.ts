import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { Balancer } from '../peers/balancer.ts';
import { Pki } from '../peers/pki.ts';
import { type RealAgent, startRealAgent } from '../peers/real-agent.ts';
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

  async startServer(index: number): Promise<void> {
    const options: TestServerOptions = {
      serverId: `server-${index}`,
      serverCount: 2,
      agents: { host: '127.0.0.1', port: 0, tls: this.#tls },
      stateDirectory: join(this.directory, String(index)),
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
      },
      via: { port: this.balancer.port, caFile: this.#caFile },
    });
    this.#agents.push(agent);
    await this.everywhere(agentId, draining);
    return agent;
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
