import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { freePort } from '../../src/commands/demo/free-port.ts';
import { Pki } from '../peers/pki.ts';

/** How a client reaches the server. */
export type Frontend =
  | { kind: 'unix'; mode: 'grpc' | 'http-connect' }
  | { kind: 'mtls'; mode: 'grpc' | 'http-connect' };

/** `serve` and `agent` as processes of their own, ready for dials. */
export interface ProxyPair {
  readonly pki: Pki;
  /** The path of the Unix socket, or `127.0.0.1:port`. */
  readonly address: string;
  /** What a client with mTLS needs. */
  readonly caFile: string;
  readonly client: { readonly certFile: string; readonly keyFile: string };
  /** What both processes logged so far. */
  readonly log: string;
  close(): Promise<void>;
}

/** Other programs may stand in for either: a command line to which the flags are appended. */
const PROGRAMS = {
  serve: words(process.env.CONFORMANCE_SERVER) ?? [process.execPath, 'bin/konnectivity-ts.js', 'serve'],
  agent: words(process.env.CONFORMANCE_AGENT) ?? [process.execPath, 'bin/konnectivity-ts.js', 'agent'],
};

/** Starts both on free ports and resolves when a dial can succeed. */
export async function startProxyPair(frontend: Frontend): Promise<ProxyPair> {
  const pair = new Pair(new Pki());
  try {
    await pair.start(frontend);
    return pair;
  } catch (error) {
    await pair.close();
    throw error;
  }
}

class Pair implements ProxyPair {
  readonly pki: Pki;
  address = '';
  caFile = '';
  client = { certFile: '', keyFile: '' };
  log = '';
  readonly #children: ChildProcess[] = [];

  constructor(pki: Pki) {
    this.pki = pki;
  }

  async start(frontend: Frontend): Promise<void> {
    const ca = await this.pki.authority('conformance CA');
    const server = await this.pki.server(ca);
    this.client = await this.pki.client(ca);
    this.caFile = ca.certFile;
    const [agentPort, ...ports] = await Promise.all(Array.from({ length: 6 }, () => freePort()));
    const [serverHealth, serverAdmin, agentHealth, agentAdmin, frontendPort] = ports;
    const socket = join(this.pki.directory, 'frontend.sock');
    this.address = frontend.kind === 'unix' ? socket : `127.0.0.1:${frontendPort}`;
    this.#run('serve', [
      `--mode=${frontend.mode}`,
      ...(frontend.kind === 'unix'
        ? [`--uds-name=${socket}`, '--server-port=0']
        : [
            '--server-bind-address=127.0.0.1',
            `--server-port=${frontendPort}`,
            `--server-cert=${server.certFile}`,
            `--server-key=${server.keyFile}`,
            `--server-ca-cert=${ca.certFile}`,
          ]),
      `--cluster-cert=${server.certFile}`,
      `--cluster-key=${server.keyFile}`,
      `--cluster-ca-cert=${ca.certFile}`,
      '--agent-bind-address=127.0.0.1',
      `--agent-port=${agentPort}`,
      '--health-bind-address=127.0.0.1',
      `--health-port=${serverHealth}`,
      `--admin-port=${serverAdmin}`,
    ]);
    this.#run('agent', [
      '--proxy-server-host=127.0.0.1',
      `--proxy-server-port=${agentPort}`,
      `--ca-cert=${ca.certFile}`,
      `--agent-cert=${this.client.certFile}`,
      `--agent-key=${this.client.keyFile}`,
      '--health-server-host=127.0.0.1',
      `--health-server-port=${agentHealth}`,
      `--admin-server-port=${agentAdmin}`,
    ]);
    while (!(await answers(`http://127.0.0.1:${serverHealth}/readyz`))) {
      const ended = this.#children.find(({ exitCode }) => exitCode !== null);
      if (ended !== undefined) throw new Error(`${ended.spawnargs.join(' ')} ended:\n${this.log}`);
    }
  }

  async close(): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    rmSync(this.pki.directory, { recursive: true, force: true });
  }

  #run(role: keyof typeof PROGRAMS, flags: readonly string[]): void {
    const [program = '', ...first] = PROGRAMS[role];
    const child = spawn(program, [...first, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.log += text;
      });
    }
    this.#children.push(child);
  }
}

function answers(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    get(url, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on('error', () => resolve(false));
  });
}

function words(command: string | undefined): string[] | undefined {
  return command?.split(' ').filter((word) => word !== '');
}
