import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, ftruncateSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CleanUp } from './clean-up.ts';
import type { Entry, FrontendKind } from './messages.ts';
import type { PairCommands } from './options.ts';
import type { PkiFiles } from './pki.ts';
import { freePort } from './ports.ts';

const LOG_TAIL_CHARS = 2000;

/** A server and an agent that is connected to it, as black boxes: command lines, flags, a socket, two processes. */
export class Pair {
  readonly entry: Entry;
  readonly #server: ChildProcess;
  readonly #agent: ChildProcess;
  readonly #logFile: string;
  readonly #log: number;

  private constructor(entry: Entry, server: ChildProcess, agent: ChildProcess, logFile: string, log: number) {
    this.entry = entry;
    this.#server = server;
    this.#agent = agent;
    this.#logFile = logFile;
    this.#log = log;
  }

  /** Starts both. They are not ready yet when this resolves. @param name unique within the run, fit for a file name */
  static async start(
    name: string,
    commands: PairCommands,
    frontend: FrontendKind,
    pki: PkiFiles,
    cleanUp: CleanUp,
  ): Promise<Pair> {
    const socketPath = join(cleanUp.directory, `${name}.sock`);
    const logFile = join(cleanUp.directory, `${name}.log`);
    // A file and not a pipe: reading it would cost CPU beside what is measured.
    const log = openSync(logFile, 'a');
    const agentPort = await freePort();
    const run = async (command: readonly string[], flags: readonly string[]): Promise<ChildProcess> =>
      await spawnLogged([...command, ...flags, ...commands.extra], log, cleanUp);
    const server = await run(commands.serve, [
      `--mode=${frontend === 'connect' ? 'http-connect' : 'grpc'}`,
      `--uds-name=${socketPath}`,
      '--server-port=0',
      `--server-id=${name}`,
      `--cluster-cert=${pki.serverCert}`,
      `--cluster-key=${pki.serverKey}`,
      `--cluster-ca-cert=${pki.caCert}`,
      `--agent-port=${agentPort}`,
      '--agent-bind-address=127.0.0.1',
      `--admin-port=${await freePort()}`,
      '--admin-bind-address=127.0.0.1',
      `--health-port=${await freePort()}`,
      '--health-bind-address=127.0.0.1',
    ]);
    const agent = await run(commands.agent, [
      `--ca-cert=${pki.caCert}`,
      `--agent-cert=${pki.agentCert}`,
      `--agent-key=${pki.agentKey}`,
      '--proxy-server-host=127.0.0.1',
      `--proxy-server-port=${agentPort}`,
      `--admin-server-port=${await freePort()}`,
      `--health-server-port=${await freePort()}`,
      '--health-server-host=127.0.0.1',
      `--agent-id=${name}`,
    ]);
    return new Pair({ kind: frontend, socketPath }, server, agent, logFile, log);
  }

  get serverPid(): number {
    return this.#server.pid ?? 0;
  }

  get agentPid(): number {
    return this.#agent.pid ?? 0;
  }

  /** A sentence about a process that ended though nobody asked it to; undefined while both run. */
  get ended(): string | undefined {
    for (const [name, { exitCode, signalCode }] of [
      ['server', this.#server],
      ['agent', this.#agent],
    ] as const) {
      if (exitCode !== null || signalCode !== null) return `the ${name} ended with ${signalCode ?? exitCode}`;
    }
    return undefined;
  }

  /** The end of what both printed. */
  logTail(): string {
    return readFileSync(this.#logFile, 'utf8').slice(-LOG_TAIL_CHARS);
  }

  /** Empties the log, which some peers fill with a line per packet. */
  truncateLog(): void {
    ftruncateSync(this.#log);
  }

  async stop(): Promise<void> {
    for (const child of [this.#agent, this.#server]) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
    }
    closeSync(this.#log);
  }
}

async function spawnLogged(words: readonly string[], log: number, cleanUp: CleanUp): Promise<ChildProcess> {
  const [command = '', ...args] = words;
  const child = spawn(command, args, { stdio: ['ignore', log, log] });
  cleanUp.process(child);
  return await new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(child));
    child.once('error', (error) => reject(new Error(`${command} cannot be started: ${error.message}`)));
  });
}
