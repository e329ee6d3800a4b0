import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@grpc/grpc-js';
import { type AdminService, openAdminService } from '../../src/proxy/admin/service/open-admin-service.ts';
import { channelCredentials } from '../../src/proxy/ops/channel-credentials.ts';
import { silentLog } from '../../src/proxy/ops/log.ts';
import { loadClientTls } from '../../src/proxy/ops/tls-files.ts';
import { clientOptions } from '../../src/proxy/wire/client-options.ts';
import { Balancer } from './balancer.ts';
import { type Pair, Pki } from './pki.ts';
import { type RealAgent, startRealAgent } from './real-agent.ts';
import { ScriptedStream } from './scripted-stream.ts';
import { TestServer } from './test-server.ts';

/** How a run of the real binary ended. */
export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly said: string;
}

/** A run of the real binary. */
export interface Running {
  readonly ended: Promise<Outcome>;
  /** Resolves when that text was written to stdout or stderr. @throws when it ended without */
  written(text: string): Promise<void>;
  interrupt(): void;
}

/**
 * Two servers with their admin services (Unix sockets, and TCP with client certificates), agents of ours that are
 * connected to both, and a scripted Go agent; operator commands are run against them as a user runs them.
 */
export class OperatorWorld {
  readonly servers: readonly TestServer[];
  readonly services: readonly AdminService[];
  readonly agents = new Map<string, RealAgent>();
  readonly pki: Pki;
  readonly ca: Pair;
  readonly operator: Pair;
  readonly #balancer: Balancer;
  readonly #sockets: readonly string[];
  readonly #clients: Client[] = [];

  private constructor(
    servers: readonly TestServer[],
    services: readonly AdminService[],
    sockets: readonly string[],
    balancer: Balancer,
    tls: { pki: Pki; ca: Pair; operator: Pair },
  ) {
    this.servers = servers;
    this.services = services;
    this.#sockets = sockets;
    this.#balancer = balancer;
    this.pki = tls.pki;
    this.ca = tls.ca;
    this.operator = tls.operator;
  }

  static async start(serverIds: readonly string[], agentIds: readonly string[]): Promise<OperatorWorld> {
    const pki = new Pki();
    const ca = await pki.authority('admin CA');
    const leaf = await pki.server(ca);
    const organization = 'konnectivity-ts:operators';
    const operator = await pki.issue(ca, { commonName: 'olga', organization, usage: 'client' });
    const servers: TestServer[] = [];
    const services: AdminService[] = [];
    const sockets: string[] = [];
    for (const serverId of serverIds) {
      const strategies = ['destHost', 'default'] as const;
      const server = await TestServer.start({
        serverId,
        serverCount: serverIds.length,
        strategies: [...strategies],
        agents: {
          host: '127.0.0.1',
          port: 0,
          tls: { certFile: leaf.certFile, keyFile: leaf.keyFile, caFile: '' },
        },
      });
      const path = join(tmpdir(), `kts-world-${randomBytes(6).toString('hex')}.sock`);
      servers.push(server);
      sockets.push(path);
      services.push(
        await openAdminService(
          server.server,
          {
            socket: { kind: 'path', path },
            tcp: {
              host: '127.0.0.1',
              port: 0,
              certFile: leaf.certFile,
              keyFile: leaf.keyFile,
              caFile: ca.certFile,
            },
            auditLog: '',
            keepsOrders: false,
            sampleMs: 50,
          },
          silentLog,
        ),
      );
    }
    const balancer = await Balancer.start(servers.map((server) => server.server.agentPort));
    const world = new OperatorWorld(servers, services, sockets, balancer, { pki, ca, operator });
    for (const id of agentIds) await world.agent(id);
    return world;
  }

  /** The Unix sockets of the admin services, as for --admin. */
  get sockets(): readonly string[] {
    return this.#sockets.map((path) => `unix://${path}`);
  }

  /** Starts an agent of ours and resolves when all servers have it ready. */
  async agent(id: string): Promise<RealAgent> {
    const via = { port: this.#balancer.port, caFile: this.ca.certFile };
    const times = { syncIntervalMs: 20, syncIntervalCapMs: 50, statusIntervalMs: 5 };
    const agent = await startRealAgent(this.servers[0] as TestServer, id, {
      identifiers: `host=${id}.example`,
      times,
      via,
    });
    this.agents.set(id, agent);
    for (const server of this.servers) await ready(server, id);
    return agent;
  }

  /** Connects a scripted Go agent to every server. */
  async goAgent(id: string): Promise<void> {
    const labels = { cert: 'cert', key: 'key', ca: 'ca' };
    const tls = loadClientTls({ caFile: this.ca.certFile, labels });
    for (const server of this.servers) {
      const address = `127.0.0.1:${server.server.agentPort}`;
      const client = new Client(address, channelCredentials(tls), clientOptions());
      this.#clients.push(client);
      new ScriptedStream((await server.connect(id, { kind: 'go' }, client)).stream);
    }
  }

  /** Runs the real binary. @param env beside the tests' own; by default it asks the first server */
  run(args: readonly string[], env: Record<string, string> = {}): Running {
    const child = spawn(process.execPath, ['bin/konnectivity-ts.js', ...args], {
      env: { ...process.env, KONNECTIVITY_TS_ADMIN: this.sockets[0], ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let said = '';
    let look = (): void => {};
    child.stdout.on('data', (chunk) => {
      out += String(chunk);
      look();
    });
    child.stderr.on('data', (chunk) => {
      said += String(chunk);
      look();
    });
    const ended = once(child, 'close').then(([code]): Outcome => ({ code: Number(code ?? -1), out, said }));
    return {
      ended,
      interrupt: () => void child.kill('SIGINT'),
      written: (text) =>
        new Promise((resolve, reject) => {
          look = () => {
            if (out.includes(text) || said.includes(text)) resolve();
          };
          look();
          void ended.then(() => reject(new Error(`it ended without "${text}": ${out}${said}`)));
        }),
    };
  }

  async close(): Promise<void> {
    for (const agent of this.agents.values()) await agent.stop();
    for (const client of this.#clients) client.close();
    this.#balancer.close();
    for (const service of this.services) await service.close();
    for (const server of this.servers) await server.close();
    for (const path of this.#sockets) rmSync(path, { force: true });
    this.pki.remove();
  }
}

/** Resolves when a server may choose that agent. */
async function ready(server: TestServer, agentId: string): Promise<void> {
  const { backends } = server.server;
  const isReady = (): boolean =>
    [...backends.all()].some(
      (backend) => backend.agentId === agentId && backends.registry.stateOf(backend)?.announced === true,
    );
  while (!isReady()) await new Promise((resolve) => setImmediate(resolve));
}
