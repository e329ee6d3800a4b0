import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AdminClient } from '../../src/proxy/admin/client/admin-client.ts';
import { openAdminClient } from '../../src/proxy/admin/client/open-admin-client.ts';
import { makePki } from '../pki.ts';
import { freePort } from '../ports.ts';
import { cpuMs, peakRssBytes } from '../process-usage.ts';
import { Fleet } from './fleet.ts';

const SIZES = [10, 100, 1_000];
const CHANGES_PER_SECOND = 100;
const WATCHERS = 10;
const LISTS = 50;
const CALM_MS = 2_000;

/**
 * Prints what watching costs a server (from dist/): CPU and memory alone, with 100 changes a second that nobody
 * watches, and with 10 watchers; and one ListAgents.
 * @param args `--seconds=N` (10) for each state
 */
export async function run(args: string[]): Promise<void> {
  const seconds = Number(args.find((arg) => arg.startsWith('--seconds='))?.slice(10) ?? 10);
  const directory = mkdtempSync(join(tmpdir(), 'kts-bench-'));
  const pki = await makePki(directory);
  const agentPort = await freePort();
  const socket = join(directory, 'admin.sock');
  const server = await serve(directory, pki, agentPort, socket);
  const pid = server.pid ?? 0;
  const fleet = new Fleet(agentPort, pki.caCert);
  const client = openAdminClient(`unix://${socket}`);
  const cpuOver = async (forMs: number): Promise<number> => {
    const [beforeMs, beganMs] = [cpuMs(pid), performance.now()];
    await sleep(forMs);
    return ((cpuMs(pid) - beforeMs) / (performance.now() - beganMs)) * 100;
  };
  try {
    await serving(client);
    console.log(
      `server's CPU in % of a core, ${CHANGES_PER_SECOND} changes a second, ${WATCHERS} watchers at 1 s`,
    );
    console.log('agents  calm  changes  changes, watched  memory  ListAgents: server CPU / to the client');
    for (const count of SIZES) {
      await fleet.grow(count);
      await sleep(CALM_MS);
      const calm = await cpuOver(seconds * 1000);
      fleet.change(CHANGES_PER_SECOND);
      const changing = await cpuOver(seconds * 1000);
      const watchers = watch(client);
      const watched = await cpuOver(seconds * 1000);
      if (watchers.messages() < WATCHERS) throw new Error('the watchers saw nothing');
      await watchers.stop();
      fleet.change(0);
      const list = await lists(client, pid, count);
      const mb = peakRssBytes(pid) / 1024 ** 2;
      const cells = [count, calm.toFixed(1), changing.toFixed(1), watched.toFixed(1), `${mb.toFixed(0)} MB`];
      console.log(`${cells.join('  ')}  ${list.cpuMs.toFixed(1)} ms / ${list.ms.toFixed(1)} ms`);
    }
  } finally {
    fleet.close();
    client.close();
    server.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }
}

async function serve(
  directory: string,
  pki: Awaited<ReturnType<typeof makePki>>,
  agentPort: number,
  socket: string,
): Promise<ChildProcess> {
  const flags = [
    `--uds-name=${join(directory, 'frontend.sock')}`,
    '--mode=grpc',
    '--server-port=0',
    '--server-id=bench',
    `--cluster-cert=${pki.serverCert}`,
    `--cluster-key=${pki.serverKey}`,
    `--agent-port=${agentPort}`,
    '--agent-bind-address=127.0.0.1',
    `--admin-port=${await freePort()}`,
    '--admin-bind-address=127.0.0.1',
    `--health-port=${await freePort()}`,
    '--health-bind-address=127.0.0.1',
    `--admin-socket=${socket}`,
    '--proxy-strategies=destHost,default',
    '--v=0',
  ];
  return spawn(process.execPath, ['bin/konnectivity-ts.js', 'serve', ...flags], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

async function serving(client: AdminClient): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    try {
      await client.server(AbortSignal.timeout(1_000));
      return;
    } catch {
      await sleep(100);
    }
  }
  throw new Error('the server does not answer');
}

/** Watchers that read what they are sent. */
function watch(client: AdminClient): { messages(): number; stop(): Promise<void> } {
  const stop = new AbortController();
  let messages = 0;
  const read = async (): Promise<void> => {
    for await (const _ of client.watchAgents({ intervalSeconds: 1, ratesFor: [] }, stop.signal)) messages++;
  };
  const readers = Array.from({ length: WATCHERS }, read);
  return {
    messages: () => messages,
    stop: async () => {
      stop.abort();
      await Promise.all(readers);
    },
  };
}

async function lists(
  client: AdminClient,
  pid: number,
  agents: number,
): Promise<{ readonly cpuMs: number; readonly ms: number }> {
  const signal = new AbortController().signal;
  const [beforeMs, beganMs] = [cpuMs(pid), performance.now()];
  for (let i = 0; i < LISTS; i++) {
    const found = (await client.agents({}, signal)).length;
    if (found !== agents) throw new Error(`${found} agents are listed instead of ${agents}`);
  }
  return { cpuMs: (cpuMs(pid) - beforeMs) / LISTS, ms: (performance.now() - beganMs) / LISTS };
}
