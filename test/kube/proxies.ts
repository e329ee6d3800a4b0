import { get } from 'node:http';
import { join } from 'node:path';
import type { ClusterPki } from './cluster-pki.ts';
import { manyAgentFlags, manyServerFlags } from './many-flags.ts';
import { Program } from './program.ts';
import { type Mode, places, settings } from './settings.ts';
import { until } from './until.ts';

const { ports } = places;
const AUDIENCE = 'system:konnectivity-server';

/** Two command lines that take the same flags. */
export interface PairCommands {
  readonly server: readonly string[];
  readonly agent: readonly string[];
}

export interface ProxyFiles {
  readonly directory: string;
  readonly socket: string;
  readonly serverKubeconfig: string;
  readonly agentKubeconfig: string;
  readonly agentToken: string;
}

/** The server and agents between kube-apiserver and the fake kubelet. */
export class Proxies {
  readonly agents = new Map<number, Program>();
  /** What the next start starts. */
  commands: PairCommands = settings.pair;
  #server: Program | undefined;
  readonly #mode: Mode;
  readonly #pki: ClusterPki;
  readonly #files: ProxyFiles;

  constructor(mode: Mode, pki: ClusterPki, files: ProxyFiles) {
    this.#mode = mode;
    this.#pki = pki;
    this.#files = files;
  }

  /** Of our server's admin service. */
  get adminSocket(): string {
    return join(this.#files.directory, 'admin.sock');
  }

  get server(): Program {
    if (this.#server === undefined) throw new Error('the server was not started');
    return this.#server;
  }

  /** Resolves when it answers on its health port. */
  async startServer(): Promise<void> {
    const { agents, frontend, konnectivityCa } = this.#pki;
    const [protocol, transport] = this.#mode.split('-');
    this.#server = new Program('server', this.#files.directory, [
      ...this.commands.server,
      `--mode=${protocol === 'grpc' ? 'grpc' : 'http-connect'}`,
      ...(transport === 'uds'
        ? [`--uds-name=${this.#files.socket}`, '--server-port=0']
        : [
            '--server-bind-address=127.0.0.1',
            `--server-port=${ports.frontend}`,
            `--server-cert=${frontend.certFile}`,
            `--server-key=${frontend.keyFile}`,
            `--server-ca-cert=${konnectivityCa.certFile}`,
          ]),
      ...(settings.tokens
        ? [
            '--agent-namespace=kube-system',
            '--agent-service-account=konnectivity-agent',
            `--authentication-audience=${AUDIENCE}`,
          ]
        : []),
      ...(settings.leases ? ['--enable-lease-controller'] : []),
      ...(settings.tokens || settings.leases ? [`--kubeconfig=${this.#files.serverKubeconfig}`] : []),
      // Another pair does not know it.
      ...(this.commands === settings.pair ? [`--admin-socket=${this.adminSocket}`] : []),
      '--server-id=server-1',
      '--server-count=1',
      ...manyServerFlags,
      `--cluster-cert=${agents.certFile}`,
      `--cluster-key=${agents.keyFile}`,
      '--agent-bind-address=127.0.0.1',
      `--agent-port=${ports.agents}`,
      '--admin-bind-address=127.0.0.1',
      `--admin-port=${ports.serverAdmin}`,
      '--health-bind-address=127.0.0.1',
      `--health-port=${ports.serverHealth}`,
    ]);
    await until('the server is healthy', async () => (await status(ports.serverHealth, '/healthz')) === 200);
  }

  async stopServer(): Promise<void> {
    await this.server.stop();
  }

  /** Starts agent `number`; whether it gets ready is for the caller to see. */
  startAgent(number: number, tokenFile = this.#files.agentToken): Program {
    const program = new Program(`agent-${number}`, this.#files.directory, [
      ...this.commands.agent,
      ...(settings.tokens ? [`--service-account-token-path=${tokenFile}`] : []),
      ...(settings.leases
        ? ['--count-server-leases', `--kubeconfig=${this.#files.agentKubeconfig}`, '--sync-forever']
        : []),
      `--agent-id=agent-${number}`,
      ...manyAgentFlags,
      `--ca-cert=${this.#pki.ca.certFile}`,
      '--proxy-server-host=127.0.0.1',
      `--proxy-server-port=${ports.agents}`,
      '--admin-bind-address=127.0.0.1',
      `--admin-server-port=${ports.agentAdmin + number}`,
      '--health-server-host=127.0.0.1',
      `--health-server-port=${ports.agentHealth + number}`,
    ]);
    this.agents.set(number, program);
    return program;
  }

  async stopAgent(number: number): Promise<void> {
    await this.agents.get(number)?.stop();
    this.agents.delete(number);
  }

  /** Resolves when the server has an agent for dials. */
  async ready(): Promise<void> {
    await until('the server is ready', async () => (await status(ports.serverHealth, '/readyz')) === 200);
  }

  async agentReady(number: number): Promise<boolean> {
    return (await status(ports.agentHealth + number, '/readyz')) === 200;
  }

  /** A metric of agent `number`, undefined where it has none. */
  agentMetric(number: number, name: string): Promise<number | undefined> {
    return metric(ports.agentHealth + number, `konnectivity_network_proxy_agent_${name}`);
  }

  serverMetric(name: string): Promise<number | undefined> {
    return metric(ports.serverHealth, `konnectivity_network_proxy_server_${name}`);
  }

  async close(): Promise<void> {
    for (const number of [...this.agents.keys()]) await this.stopAgent(number);
    await this.#server?.stop();
  }
}

async function metric(port: number, name: string): Promise<number | undefined> {
  const { body } = await fetchText(port, '/metrics');
  const line = body.split('\n').find((text) => text.startsWith(`${name} `) || text.startsWith(`${name}{`));
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
}

async function status(port: number, path: string): Promise<number> {
  return (await fetchText(port, path)).status;
}

/** Status 0 where nobody listens. */
function fetchText(port: number, path: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve) => {
    get({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    }).on('error', () => resolve({ status: 0, body: '' }));
  });
}
