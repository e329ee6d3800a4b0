import { join } from 'node:path';
import { type AdminCost, adminCost } from '../admin/cost.ts';
import type { CleanUp } from '../clean-up.ts';
import type { LoadOrder } from '../messages.ts';
import type { BenchOptions, PairCommands } from '../options.ts';
import type { PkiFiles } from '../pki.ts';
import { restingMemory } from '../resting-memory.ts';
import type { Contender } from '../results.ts';
import { type ServerParty, startServer } from '../server-party.ts';
import { untilHealthy } from '../start/until-healthy.ts';
import type { Workers } from '../workers.ts';
import type { SimulatedFleet } from './fleet.ts';
import { type LoadCost, loadCost } from './load-cost.ts';

const START_TIMEOUT_MS = 20_000;
const OPEN_TIMEOUT_MS = 180_000;
const CHANGES_PER_SECOND = 100;

export interface ScaleContext {
  readonly options: BenchOptions;
  readonly sizes: readonly number[];
  /** That stay open beside the load at the first and the last size. */
  readonly tunnels: number;
  readonly workers: Workers;
  readonly idle: Workers;
  readonly fleet: SimulatedFleet;
  readonly pki: PkiFiles;
  readonly cleanUp: CleanUp;
}

/** What was measured at one number of agents. */
export interface SizeResult {
  readonly agents: number;
  readonly serverBytes: number;
  readonly connectMs: number;
  readonly loads: Loads | undefined;
}

/** With `tunnels` open and idle. */
export interface Loads {
  readonly serverBytes: number;
  readonly dial: LoadCost;
  readonly dials16: LoadCost;
  readonly echo: LoadCost;
  /** Of our servers only. */
  readonly admin: AdminCost | undefined;
}

export interface ScaleResult {
  readonly contender: Contender;
  readonly sizes: readonly SizeResult[];
}

/** Lets the fleet grow at one server; loads it at the first and the last size. @throws Error with the end of its log */
export async function measureServer(
  name: string,
  contender: Contender,
  commands: PairCommands,
  context: ScaleContext,
): Promise<ScaleResult> {
  const { options, sizes, fleet, pki, cleanUp } = context;
  const ours = contender.side === 'ours';
  const adminSocket = join(cleanUp.directory, `${name}-admin.sock`);
  const more = ['--proxy-strategies=destHost,default', ...(ours ? [`--admin-socket=${adminSocket}`] : [])];
  const server = await startServer(name, commands, 'connect', pki, cleanUp, more);
  try {
    await untilHealthy(server.healthPort, START_TIMEOUT_MS);
    const tls = { caFile: pki.caCert, certFile: pki.agentCert, keyFile: pki.agentKey };
    const measured: SizeResult[] = [];
    for (const agents of sizes) {
      const beginMs = performance.now();
      await fleet.grow(agents, server.agentPort, tls, ours);
      const connectMs = performance.now() - beginMs;
      const [serverBytes = 0] = await restingMemory([server.party.pid], options.seconds * 1000);
      await fleet.check();
      say(`${contender.side}: ${agents} agents, ${(serverBytes / 1e6).toFixed(0)} MB`);
      const loaded = agents === sizes[0] || agents === sizes.at(-1);
      const loads = loaded ? await load(server, ours ? adminSocket : undefined, agents, context) : undefined;
      measured.push({ agents, serverBytes, connectMs, loads });
      server.party.truncateLog();
    }
    return { contender, sizes: measured };
  } catch (error) {
    throw new Error(`${contender.side}: ${(error as Error).message}\n${server.party.logTail()}`);
  } finally {
    await context.idle.load.call('destroy');
    await fleet.leave();
    await server.party.stop();
  }
}

async function load(
  { party, entry }: ServerParty,
  adminSocket: string | undefined,
  agents: number,
  { options, tunnels, workers, idle, fleet }: ScaleContext,
): Promise<Loads> {
  const { pid } = party;
  const ms = options.seconds * 1000;
  // To an address that nobody claims: spread over the fleet.
  const spread = { ...entry, hosts: ['127.0.0.200'] };
  const order: LoadOrder = { traffic: 'idle', tunnels, entry: spread, ports: idle.ports };
  await idle.load.call('start', order, OPEN_TIMEOUT_MS);
  const [serverBytes = 0] = await restingMemory([pid], ms);
  say(`${agents} agents and ${tunnels} tunnels: ${(serverBytes / 1e6).toFixed(0)} MB`);
  const dial = await loadCost(workers, entry, 'dials', 1, pid, ms);
  const dials16 = await loadCost(workers, entry, 'dials', 16, pid, ms);
  const echo = await loadCost(workers, entry, 'echo', 64, pid, ms);
  say(`dial p50 ${dial.p50Us.toFixed(0)} us, echo ${echo.serverCpuUs.toFixed(1)} us of CPU`);
  await idle.load.call('count');
  await fleet.check();
  let admin: AdminCost | undefined;
  if (adminSocket !== undefined) {
    const change = async (perSecond: number): Promise<void> => await fleet.change(perSecond);
    admin = await adminCost(adminSocket, pid, agents, change, CHANGES_PER_SECOND, ms);
    say(`list ${admin.listMs.toFixed(0)} ms, watched ${admin.watchedPercent.toFixed(1)} % of a core`);
  }
  await idle.load.call('stop', undefined, OPEN_TIMEOUT_MS);
  return { serverBytes, dial, dials16, echo, admin };
}

/** How far it is: there are too few steps for a count of them. */
function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
