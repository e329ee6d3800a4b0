import { setTimeout as delay } from 'node:timers/promises';
import type { Entry, LatencySummary, LoadOrder, Reading, Traffic } from './messages.ts';
import type { Pair } from './pair.ts';
import { cpuMs, machineCpuMs, othersBusy, peakRssBytes, resetPeakRss } from './process-usage.ts';
import type { Row } from './rows.ts';
import type { Workers } from './workers.ts';

/** What one cell measured. Per unit means per MB (bulk), per echo, per dial. */
export interface Sample extends LatencySummary {
  /** MB/s (a million bytes each), echoes/s or dials/s. */
  readonly rate: number;
  readonly serverCpuUs: number;
  readonly agentCpuUs: number;
  readonly serverPeakRssBytes: number;
  readonly agentPeakRssBytes: number;
  /** Share of one core that the load generator and the destination used; near 1, the figure is theirs. */
  readonly loadBusy: number;
  readonly destinationBusy: number;
  /** The same of the relay of a long link; 0 without one. */
  readonly relayBusy: number;
  /** Cores that the rest of the machine kept busy meanwhile: what disturbed the cell. */
  readonly othersBusy: number;
}

export interface MeasureTimes {
  readonly seconds: number;
  readonly warmupSeconds: number;
}

const READY_TIMEOUT_MS = 20_000;
const PROBE_TIMEOUT_MS = 2000;
const PROBE_PAUSE_MS = 100;

/** Waits until a pair passes an echo. @throws Error with the end of its log when it does not */
export async function untilReady(workers: Workers, pair: Pair): Promise<void> {
  const begin = performance.now();
  for (;;) {
    try {
      if (pair.ended === undefined) {
        const { load, ports } = workers;
        const order: LoadOrder = { traffic: 'echo', tunnels: 1, entry: pair.entry, ports };
        await load.call('start', order, PROBE_TIMEOUT_MS);
        await load.call('stop', undefined, PROBE_TIMEOUT_MS);
        return;
      }
    } catch (error) {
      await workers.load.call('destroy');
      if (performance.now() - begin < READY_TIMEOUT_MS) {
        await delay(PROBE_PAUSE_MS);
        continue;
      }
      throw new Error(`no tunnel: ${(error as Error).message}\n${pair.logTail()}`);
    }
    throw new Error(`${pair.ended}\n${pair.logTail()}`);
  }
}

/**
 * Runs one cell: opens the tunnels, lets them run in, measures, and waits until every connection is closed.
 * @param pair what is between entry and destination; nothing when the load generator itself is measured
 */
export async function measure(
  workers: Workers,
  row: Row,
  entry: Entry,
  pair: Pair | undefined,
  times: MeasureTimes,
): Promise<Sample> {
  const { load, destination, relay, ports } = workers;
  pair?.truncateLog();
  try {
    const { traffic, tunnels } = row;
    await load.call('start', { traffic, tunnels, entry, ports } satisfies LoadOrder);
    await delay(times.warmupSeconds * 1000);
    const pids = [
      load.pid,
      destination.pid,
      relay.pid,
      ...(pair === undefined ? [] : [pair.serverPid, pair.agentPid]),
    ];
    for (const pid of pids.slice(3)) resetPeakRss(pid);

    const before = await read(workers, traffic, 'mark');
    const cpuBefore = [...pids.map(cpuMs), machineCpuMs()];
    await delay(times.seconds * 1000);
    let after = await read(workers, traffic, 'count');
    let cpuAfter = [...pids.map(cpuMs), machineCpuMs()];
    const peaks = pids.map(peakRssBytes);
    const stopped = await load.call<LatencySummary & Reading>('stop');
    const idle = await destination.call<Reading>('idle');
    if (traffic === 'dials') {
      // Closing belongs to a dial: what the proxy put off is waited for and counted.
      after = { count: stopped.count, atMs: idle.atMs };
      cpuAfter = [...pids.map(cpuMs), machineCpuMs()];
    }

    const elapsedMs = after.atMs - before.atMs;
    const units = (after.count - before.count) / unitOf(traffic);
    if (units <= 0) throw new Error('nothing came through');
    const spent = cpuAfter.map((ms, i) => ms - (cpuBefore[i] ?? 0));
    const machineMs = spent.pop() ?? 0;
    const [loadMs = 0, destinationMs = 0, relayMs = 0, serverMs = 0, agentMs = 0] = spent;
    const ownMs = loadMs + destinationMs + relayMs + serverMs + agentMs;
    return {
      rate: units / (elapsedMs / 1000),
      serverCpuUs: (serverMs * 1000) / units,
      agentCpuUs: (agentMs * 1000) / units,
      serverPeakRssBytes: peaks[3] ?? 0,
      agentPeakRssBytes: peaks[4] ?? 0,
      loadBusy: loadMs / elapsedMs,
      destinationBusy: destinationMs / elapsedMs,
      relayBusy: relayMs / elapsedMs,
      othersBusy: othersBusy(machineMs, ownMs, elapsedMs),
      p50Us: stopped.p50Us,
      p99Us: stopped.p99Us,
      maxUs: stopped.maxUs,
    };
  } catch (error) {
    await load.call('destroy');
    await destination.call('reset');
    const about = pair?.ended === undefined ? '' : `${pair.ended}; `;
    throw new Error(`${about}${(error as Error).message}`);
  }
}

function unitOf(traffic: Traffic): number {
  return traffic === 'down' || traffic === 'up' ? 1e6 : 1;
}

/** Reads the counter at the end of the way: bytes that go up are counted where they arrive. */
async function read(
  { load, destination }: Workers,
  traffic: Traffic,
  call: 'mark' | 'count',
): Promise<Reading> {
  const own = await load.call<Reading>(call);
  return traffic === 'up' ? await destination.call<Reading>('count') : own;
}
