import { setTimeout as delay } from 'node:timers/promises';
import type { Entry, LatencySummary, LoadOrder, Reading, Traffic } from '../messages.ts';
import { cpuMs } from '../process-usage.ts';
import type { Workers } from '../workers.ts';

/** What one load cost the server. */
export interface LoadCost extends LatencySummary {
  readonly perSecond: number;
  readonly serverCpuUs: number;
  /** Share of one core that the load generator used. */
  readonly loadBusy: number;
}

const WARMUP_MS = 500;

/** Runs dials or echoes for `ms` against a server of which the agents answer everything themselves. */
export async function loadCost(
  { load, ports }: Workers,
  entry: Entry,
  traffic: Traffic,
  tunnels: number,
  serverPid: number,
  ms: number,
): Promise<LoadCost> {
  try {
    await load.call('start', { traffic, tunnels, entry, ports } satisfies LoadOrder);
    await delay(WARMUP_MS);
    const before = await load.call<Reading>('mark');
    const [serverBefore, loadBefore] = [cpuMs(serverPid), cpuMs(load.pid)];
    await delay(ms);
    const after = await load.call<Reading>('count');
    const [serverMs, loadMs] = [cpuMs(serverPid) - serverBefore, cpuMs(load.pid) - loadBefore];
    const { p50Us, p99Us, maxUs } = await load.call<LatencySummary>('stop');
    const units = after.count - before.count;
    if (units <= 0) throw new Error(`${traffic}: nothing came through`);
    const elapsedMs = after.atMs - before.atMs;
    return {
      perSecond: (units * 1000) / elapsedMs,
      serverCpuUs: (serverMs * 1000) / units,
      loadBusy: loadMs / elapsedMs,
      p50Us,
      p99Us,
      maxUs,
    };
  } catch (error) {
    await load.call('destroy');
    throw error;
  }
}
