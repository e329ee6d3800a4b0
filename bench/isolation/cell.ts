import { setTimeout as delay } from 'node:timers/promises';
import { openBlackHole } from '../../test/peers/black-hole.ts';
import type { CleanUp } from '../clean-up.ts';
import { untilReady } from '../measure.ts';
import type { Address, LatencySummary, LoadOrder, Reading } from '../messages.ts';
import type { BenchOptions, PairCommands } from '../options.ts';
import { Pair } from '../pair.ts';
import type { PkiFiles } from '../pki.ts';
import { connecting, cpuMs, machineCpuMs, othersBusy, peakRssBytes } from '../process-usage.ts';
import { CallTimeout } from '../worker-process.ts';
import type { Workers } from '../workers.ts';
import type { IsolationRow } from './rows.ts';
import type { IsolationSample } from './sample.ts';

/** Between the begin of what runs beside and the first dial that counts: until then buffers may still fill. */
const SETTLE_MS = 1000;
const PENDING_PAUSE_MS = 100;
const START_TIMEOUT_MS = 30_000;
/** For all downloads together; a pair that needs longer stands still. */
const DOWNLOADS_TIMEOUT_MS = 240_000;
const HOLE_HOST = '127.0.0.99';

/** Load and destination of the healthy client, and those of what runs beside it: no process measures its own load. */
export interface Bystanders {
  readonly healthy: Workers;
  readonly beside: Workers;
}

export interface CellContext extends Bystanders {
  readonly options: BenchOptions;
  readonly pki: PkiFiles;
  readonly cleanUp: CleanUp;
}

/**
 * Runs one cell with a pair of its own, so that neither a pair that stalled nor memory that it keeps reaches the next.
 * @param name of the pair: unique within the run
 * @throws Error when a dial fails, or when what should run beside does not
 */
export async function runCell(
  name: string,
  row: IsolationRow,
  commands: PairCommands,
  context: CellContext,
): Promise<IsolationSample> {
  const { healthy, beside } = context;
  const hole = row.beside === 'black-hole' ? await openBlackHole(HOLE_HOST) : undefined;
  let pair: Pair | undefined;
  try {
    pair = await Pair.start(name, commands, row.frontend, context.pki, context.cleanUp);
    await untilReady(healthy, pair);
    return await measureCell(row, pair, hole && { host: HOLE_HOST, port: hole.port }, context);
  } catch (error) {
    const about = pair?.ended === undefined ? '' : `${pair.ended}; `;
    throw new Error(`${about}${(error as Error).message}`);
  } finally {
    for (const { load } of [beside, healthy]) await load.call('destroy');
    await pair?.stop();
    for (const { destination } of [beside, healthy]) await destination.call('reset');
    await hole?.close();
  }
}

async function measureCell(
  row: IsolationRow,
  pair: Pair,
  hole: Address | undefined,
  { healthy, beside, options }: CellContext,
): Promise<IsolationSample> {
  const { entry, serverPid, agentPid } = pair;
  const pids = [serverPid, agentPid, ...[healthy, beside].flatMap((w) => [w.load.pid, w.destination.pid])];
  const own = (): number => pids.reduce((sum, pid) => sum + cpuMs(pid), 0);
  const dials: LoadOrder = { traffic: row.healthy, tunnels: 1, entry, ports: healthy.ports };
  await healthy.load.call('start', dials);
  await delay(options.warmupSeconds * 1000);
  const downloads = row.beside === 'downloads';
  // Opening 500 tunnels at once belongs to what the dials meanwhile meet.
  if (downloads) await healthy.load.call('mark');
  const beginMs = performance.now();
  const [machineBefore, ownBefore] = [machineCpuMs(), own()];
  let stalled = false;
  if (row.beside !== undefined) {
    const { beside: traffic, tunnels } = row;
    const order: LoadOrder = { traffic, tunnels, entry, ports: beside.ports, ...(hole && { hole }) };
    await beside.load.call('start', order, START_TIMEOUT_MS);
  }
  let figure = 0;
  if (downloads) {
    stalled = !(await inTime(beside.load.call('stop', undefined, DOWNLOADS_TIMEOUT_MS)));
    figure = (performance.now() - beginMs) / 1000;
  } else {
    if (hole) await untilPending(hole.port, row.tunnels);
    await delay(SETTLE_MS);
    await healthy.load.call('mark');
    const before = await moved(row, beside);
    await delay(options.seconds * 1000);
    const after = await moved(row, beside);
    figure = hole
      ? connecting(hole.port)
      : (after.count - before.count) / 1000 / (after.atMs - before.atMs || 1);
  }
  const stop = healthy.load.call('stop', undefined, options.stallSeconds * 1000);
  if (!(await inTime(stop))) stalled = true;
  const common = {
    figure,
    serverPeakRssBytes: peakRssBytes(serverPid),
    agentPeakRssBytes: peakRssBytes(agentPid),
    othersBusy: othersBusy(machineCpuMs() - machineBefore, own() - ownBefore, performance.now() - beginMs),
  };
  if (stalled) return { outcome: 'stalled', ...common };
  return { outcome: 'measured', ...common, ...(await healthy.load.call<LatencySummary>('latencies')) };
}

/** Waits until the agent's connects hang: how fast many dials are taken in is another question than what they hold up. */
async function untilPending(port: number, connects: number): Promise<void> {
  const beginMs = performance.now();
  while (connecting(port) < connects) {
    if (performance.now() - beginMs > START_TIMEOUT_MS) {
      throw new Error(`only ${connecting(port)} of ${connects} connects hang`);
    }
    await delay(PENDING_PAUSE_MS);
  }
}

/** Bytes that the sending end of what runs beside got rid of: none move in what is stalled. */
async function moved({ beside }: IsolationRow, { load, destination }: Workers): Promise<Reading> {
  if (beside === undefined) return { count: 0, atMs: 0 };
  const own = await load.call<Reading>('count');
  if (beside === 'up') return await destination.call<Reading>('count');
  return beside === 'stalled-frontend' ? await destination.call<Reading>('supplied') : own;
}

/** False when the worker did not answer in time. @throws what else the call throws */
async function inTime(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (error instanceof CallTimeout) return false;
    throw error;
  }
}
