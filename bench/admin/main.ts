import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AdminClient } from '../../src/proxy/admin/client/admin-client.ts';
import { openAdminClient } from '../../src/proxy/admin/client/open-admin-client.ts';
import { makePki } from '../pki.ts';
import { freePort } from '../ports.ts';
import { peakRssBytes } from '../process-usage.ts';
import { adminCost } from './cost.ts';
import { Fleet } from './fleet.ts';

const SIZES = [10, 100, 1_000];
const CHANGES_PER_SECOND = 100;
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
  try {
    await serving(client);
    console.log(`server's CPU in % of a core, ${CHANGES_PER_SECOND} changes a second, ten watchers at 1 s`);
    console.log('agents  calm  changes  changes, watched  memory  ListAgents: server CPU / to the client');
    for (const count of SIZES) {
      await fleet.grow(count);
      await sleep(CALM_MS);
      const change = (perSecond: number): void => fleet.change(perSecond);
      const cost = await adminCost(socket, pid, count, change, CHANGES_PER_SECOND, seconds * 1000);
      const percents = [cost.calmPercent, cost.changingPercent, cost.watchedPercent].map((n) => n.toFixed(1));
      const mb = peakRssBytes(pid) / 1024 ** 2;
      const cells = [count, ...percents, `${mb.toFixed(0)} MB`];
      console.log(`${cells.join('  ')}  ${cost.listCpuMs.toFixed(1)} ms / ${cost.listMs.toFixed(1)} ms`);
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
