import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../../proxy/ops/fault.ts';
import { freePort } from './free-port.ts';
import type { DemoPki } from './pki.ts';

/** Ends the agent with the demo, whatever ended that; the channel itself does not keep the agent. */
const END_WITH_PARENT = "process.on('disconnect', () => process.exit(1)); process.channel.unref();";

/** An agent of the demo: a process of its own, so that signals mean what they mean in a cluster. */
export interface AgentProcess {
  readonly id: string;
  readonly pid: number;
  readonly healthPort: number;
  readonly logFile: string;
  /** The exit code; 128 and more after a signal that it did not handle. */
  readonly exited: Promise<number>;
  /** SIGTERM: the agent leaves when nothing is left. */
  terminate(): void;
  kill(): void;
}

export interface AgentPlace {
  readonly directory: string;
  readonly pki: DemoPki;
  readonly agentPort: number;
}

/** The name by which destinations behind this agent are dialled; every resolver knows that it is loopback. */
export function hostOf(id: string): string {
  return `${id}.localhost`;
}

/** Starts `konnectivity-ts agent` as this very program. */
export async function startAgentProcess(id: string, place: AgentPlace): Promise<AgentProcess> {
  const { directory, pki, agentPort } = place;
  const healthPort = await freePort();
  const adminPort = await freePort();
  const logFile = join(directory, `${id}.log`);
  const log = openSync(logFile, 'a', 0o600);
  const args = [
    ...process.execArgv,
    `--import=data:text/javascript,${encodeURIComponent(END_WITH_PARENT)}`,
    process.argv[1] ?? '',
    'agent',
    `--agent-id=${id}`,
    `--agent-identifiers=host=${hostOf(id)}`,
    '--proxy-server-host=127.0.0.1',
    `--proxy-server-port=${agentPort}`,
    `--ca-cert=${pki.caFile}`,
    `--agent-cert=${pki.client.certFile}`,
    `--agent-key=${pki.client.keyFile}`,
    '--health-server-host=127.0.0.1',
    `--health-server-port=${healthPort}`,
    `--admin-server-port=${adminPort}`,
  ];
  // In a process group of its own: Ctrl-C in the terminal is for the demo, which then ends its agents.
  const child = spawn(process.execPath, args, { detached: true, stdio: ['ignore', log, log, 'ipc'] });
  closeSync(log);
  const exited = exitOf(child);
  if (child.pid === undefined) {
    await exited;
    throw new Fault('agent-not-started', `${id}: the process cannot be started`);
  }
  return {
    id,
    pid: child.pid,
    healthPort,
    logFile,
    exited,
    terminate: () => void child.kill('SIGTERM'),
    kill: () => void child.kill('SIGKILL'),
  };
}

/** The last line that an agent logged, for messages. */
export function lastLine(agent: AgentProcess): string {
  return readFileSync(agent.logFile, 'utf8').trim().split('\n').at(-1) ?? '';
}

function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(127));
    child.once('exit', (code) => resolve(code ?? 128));
  });
}
