import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { resetSocket } from '../../src/proxy/ops/reset-socket.ts';
import { Balancer } from '../peers/balancer.ts';
import { Pki } from '../peers/pki.ts';
import { type RealAgent, startRealAgent } from '../peers/real-agent.ts';
import { until } from '../peers/sockets-left.ts';
import { TestServer } from '../peers/test-server.ts';
import { type Destination, startDestination } from '../peers/tunnel.ts';
import type { Random } from './random.ts';
import { serveStream } from './stream-server.ts';
import type { StreamBook } from './streams.ts';

const SERVERS = 2;
const AGENTS = 3;
// All runs in one process: on a busy machine a turn of its event loop alone may take a second or two.
const probe = { intervalMs: 300, suspectMs: 600, urgentSuspectMs: 400, deadMs: 3_000 };

/** Two servers, three agents with a relay each before the servers, and a destination; all can be killed. */
export class World {
  readonly servers: TestServer[] = [];
  readonly killed: string[] = [];
  #destination: Destination | undefined;
  readonly #publicStreams: boolean;
  readonly #book: StreamBook;
  readonly #pki = new Pki();
  #tls = { certFile: '', keyFile: '', caFile: '' };
  #caFile = '';
  readonly #relays: Balancer[] = [];
  readonly #agents: RealAgent[] = [];
  readonly #endpoints = new Set<Socket>();

  constructor(publicStreams: boolean, book: StreamBook) {
    this.#publicStreams = publicStreams;
    this.#book = book;
  }

  get address(): string {
    return this.#destination?.address ?? '';
  }

  async start(): Promise<void> {
    const ca = await this.#pki.authority('test CA');
    const leaf = await this.#pki.issue(ca, { commonName: 'server', dns: ['localhost'], ips: ['127.0.0.1'] });
    this.#tls = { certFile: leaf.certFile, keyFile: leaf.keyFile, caFile: '' };
    this.#caFile = ca.certFile;
    this.#destination = await startDestination((socket) => {
      this.#endpoints.add(socket);
      socket.on('close', () => this.#endpoints.delete(socket));
      serveStream(socket, this.#book);
    });
    for (let i = 0; i < SERVERS; i++) this.servers.push(await this.#startServer(i));
    for (let i = 0; i < AGENTS; i++) {
      this.#relays.push(await Balancer.start(this.servers.map(({ server }) => server.agentPort)));
      this.#agents.push(await this.#startAgent(i));
    }
    await this.recovered();
  }

  /** One fault of those that happen to clusters. */
  async fault(random: Random): Promise<void> {
    const kind = random.below(10);
    const agent = random.below(AGENTS);
    const relay = this.#relays[agent] as Balancer;
    if (kind < 3) {
      this.killed.push('link cut');
      relay.cut();
    } else if (kind < 5) {
      this.killed.push('link silent');
      relay.freeze();
    } else if (kind < 7) {
      this.killed.push('agent killed');
      // Nothing that it still says gets through, as with SIGKILL.
      relay.cut();
      await this.#stopAgent(agent);
      this.#agents[agent] = await this.#startAgent(agent);
    } else if (kind < 8) {
      this.killed.push('server killed');
      await this.#killServer(random.below(SERVERS));
    } else {
      this.killed.push('destination connections reset');
      for (const socket of this.#endpoints) {
        if (!random.once(2)) continue;
        this.#book.reset.add(this.#book.numbers.get(socket) ?? 0);
        resetSocket(socket);
      }
    }
  }

  /** Resolves when every agent has a stream to every server, and no link is silent. */
  async recovered(): Promise<void> {
    for (const relay of this.#relays) relay.cutFrozen();
    const whole = (): boolean =>
      this.servers.every(({ server }) => {
        const streams = [...server.backends.all()];
        const ready = streams.filter((one) => server.backends.registry.stateOf(one)?.announced === true);
        return streams.length === AGENTS && ready.length === AGENTS;
      });
    await until(whole, 'all agents on all servers', 60_000);
  }

  /** Everything is at zero, while all still runs. */
  async allZero(): Promise<void> {
    for (const server of this.servers) await serverAtZero(server);
    for (const { agent } of this.#agents) await agentAtZero(agent);
    await until(() => this.#endpoints.size === 0, 'no connection at the destination', 60_000);
  }

  async close(): Promise<void> {
    for (const relay of this.#relays) relay.cut();
    for (let i = 0; i < this.#agents.length; i++) await this.#stopAgent(i);
    for (const server of this.servers) await server.close();
    for (const relay of this.#relays) relay.close();
    this.#destination?.close();
    this.#pki.remove();
  }

  #startServer(index: number): Promise<TestServer> {
    return TestServer.start({
      serverId: `server-${index}`,
      serverCount: SERVERS,
      publicStreams: this.#publicStreams,
      agents: { host: '127.0.0.1', port: 0, tls: this.#tls },
      times: { dialTimeoutMs: 10_000, probe, lingerMs: 5_000, halfCloseTimeoutMs: 10_000 },
    });
  }

  async #killServer(index: number): Promise<void> {
    const server = this.servers[index] as TestServer;
    for (const relay of this.#relays) relay.cut(server.server.agentPort);
    await server.close();
    await serverAtZero(server);
    const next = await this.#startServer(index);
    this.servers[index] = next;
    for (const relay of this.#relays) relay.targets[index] = next.server.agentPort;
  }

  #startAgent(index: number): Promise<RealAgent> {
    return startRealAgent(this.servers[0] as TestServer, `agent-${index}`, {
      publicStreams: this.#publicStreams,
      via: { port: (this.#relays[index] as Balancer).port, caFile: this.#caFile },
      times: {
        probe,
        syncIntervalMs: 100,
        syncIntervalCapMs: 500,
        retryMs: 200,
        lingerMs: 5_000,
        tailMs: 10_000,
      },
    });
  }

  async #stopAgent(index: number): Promise<void> {
    const one = this.#agents[index] as RealAgent;
    await one.stop();
    await agentAtZero(one.agent);
  }
}

async function serverAtZero({ server }: TestServer): Promise<void> {
  const { counters, buffers } = server;
  const open = (): number =>
    counters.pendingDials + counters.establishedTunnels + counters.grpcFrontends + counters.connectFrontends;
  await until(() => open() === 0, 'no dial, tunnel or client on a server', 60_000);
  assert.equal(Math.abs(Math.round(buffers.heldBytes)), 0, 'bytes held by a server');
  assert.equal(buffers.promisedBytes, 0, 'bytes promised by a server');
  const failed = [...counters.dialFailures.values()].reduce((sum, count) => sum + count, 0);
  const ends = counters.dialsSucceeded + failed - counters.unknownAnswers;
  assert.equal(ends, counters.dialsStarted, 'ends of dials, one each');
  const closed = [...counters.closedTunnels.values()].reduce((sum, count) => sum + count, 0);
  assert.equal(closed, counters.dialsSucceeded, 'close reasons of tunnels, one each');
}

async function agentAtZero(agent: RealAgent['agent']): Promise<void> {
  const open = (): number => agent.status.pendingDials + agent.status.tunnels + agent.counts.openEndpoints;
  await until(() => open() === 0, 'no dial, tunnel or endpoint at an agent', 60_000);
  assert.equal(Math.abs(Math.round(agent.buffers.heldBytes)), 0, 'bytes held by an agent');
  assert.equal(agent.buffers.promisedBytes, 0, 'bytes promised by an agent');
}
