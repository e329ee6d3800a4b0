import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../../src/commands/demo/free-port.ts';
import { Inbox } from './inbox.ts';
import type { Pair } from './pki.ts';

export interface ServerPlace {
  /** For its sockets. */
  readonly directory: string;
  readonly leaf: Pair;
  readonly serverCount: number;
  /** How many file descriptors it may have open. */
  readonly descriptors?: number;
}

/** `konnectivity-ts serve` as a process, which can be killed and started again at its ports and paths. */
export class ServerProcess {
  readonly id: string;
  readonly agentPort: number;
  readonly connectPath: string;
  /** For --admin. */
  readonly adminAddress: string;
  readonly healthPort: number;
  /** Of /metrics. */
  readonly adminPort: number;
  readonly adminPath: string;
  /** What it logged since its last start. */
  lines = new Inbox<string>();
  readonly #descriptors: number | undefined;
  readonly #args: readonly string[];
  #child: ChildProcess | undefined;

  private constructor(
    id: string,
    { directory, leaf, serverCount, descriptors }: ServerPlace,
    ports: readonly number[],
  ) {
    this.id = id;
    [this.agentPort, this.healthPort, this.adminPort] = ports as [number, number, number];
    this.#descriptors = descriptors;
    this.connectPath = join(directory, `${id}.sock`);
    this.adminPath = join(directory, `${id}-admin.sock`);
    this.adminAddress = `unix://${this.adminPath}`;
    this.#args = [
      'serve',
      `--server-id=${id}`,
      `--server-count=${serverCount}`,
      '--proxy-strategies=destHost,default',
      '--mode=http-connect',
      `--uds-name=${this.connectPath}`,
      '--delete-existing-uds-file',
      '--server-port=0',
      `--cluster-cert=${leaf.certFile}`,
      `--cluster-key=${leaf.keyFile}`,
      '--agent-bind-address=127.0.0.1',
      `--agent-port=${ports[0]}`,
      '--health-bind-address=127.0.0.1',
      `--health-port=${ports[1]}`,
      `--admin-port=${ports[2]}`,
      `--admin-socket=${this.adminPath}`,
    ];
  }

  /** Resolves when it listens. */
  static async start(id: string, place: ServerPlace): Promise<ServerProcess> {
    const server = new ServerProcess(id, place, [await freePort(), await freePort(), await freePort()]);
    await server.again();
    return server;
  }

  /** Starts it anew. Rejects when it ends instead. */
  async again(): Promise<void> {
    const lines = new Inbox<string>();
    this.lines = lines;
    const command = [process.execPath, 'bin/konnectivity-ts.js', ...this.#args];
    const limited = ['-c', `ulimit -n ${this.#descriptors}; exec "$@"`, 'sh', ...command];
    const [file = '', ...args] = this.#descriptors === undefined ? command : ['/bin/sh', ...limited];
    const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    createInterface(child.stderr).on('line', (line) => lines.push(line));
    const ended = once(child, 'close').then(() => {
      throw new Error(`${this.id} ended before it listened: ${lines.all.join('\n')}`);
    });
    await Promise.race([lines.next((line) => line.includes('"Listening"')), ended]);
    ended.catch(() => {});
  }

  /** SIGKILL: nothing is closed or removed by it. Resolves when it is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}
