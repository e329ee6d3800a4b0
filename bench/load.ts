import { BlackHoleDials } from './load/black-hole-dials.ts';
import { Bulk } from './load/bulk.ts';
import { Dials } from './load/dials.ts';
import { Downloads } from './load/downloads.ts';
import { Echo } from './load/echo.ts';
import { firstEcho } from './load/first-echo.ts';
import { IdleTunnels } from './load/idle-tunnels.ts';
import { Keystrokes } from './load/keystrokes.ts';
import { StalledDownloads } from './load/stalled-downloads.ts';
import { leaveSharedConnections } from './load/tunnel.ts';
import type { Workload } from './load/workload.ts';
import { type LatencySummary, type LoadOrder, nowMs, type Reading } from './messages.ts';
import { answerCalls } from './worker.ts';

/** The load generator: a process of its own that plays kube-apiserver, one workload at a time. */

let workload: Workload | undefined;

function make({ traffic, tunnels, entry, ports, hole }: LoadOrder): Workload {
  switch (traffic) {
    case 'down':
      return new Bulk('down', { entry, tunnels, port: ports.source });
    case 'up':
      return new Bulk('up', { entry, tunnels, port: ports.sink });
    case 'echo':
      return new Echo({ entry, tunnels, port: ports.echo });
    case 'dials':
      return new Dials({ entry, tunnels, port: ports.echo });
    case 'keystrokes':
      return new Keystrokes({ entry, tunnels, port: ports.echo });
    case 'idle':
      return new IdleTunnels({ entry, tunnels, port: ports.echo });
    case 'stalled-frontend':
      return new StalledDownloads({ entry, tunnels, port: ports.source });
    case 'stalled-destination':
      return new Bulk('up', { entry, tunnels, port: ports.stall });
    case 'downloads':
      return new Downloads({ entry, tunnels, port: ports.source });
    case 'black-hole':
      if (hole === undefined) throw new Error('the order names no black hole');
      return new BlackHoleDials(entry, hole, tunnels);
  }
}

function current(): Workload {
  if (workload === undefined) throw new Error('no workload runs');
  return workload;
}

answerCalls({
  start: async (order: LoadOrder): Promise<void> => {
    workload = make(order);
    await workload.start();
  },
  /** Of idle tunnels: opens more of them. */
  grow: async (tunnels: number): Promise<void> => {
    const running = current();
    if (!(running instanceof IdleTunnels)) throw new Error('only idle tunnels grow');
    await running.grow(tunnels);
  },
  /** Dials until a dial is answered. @returns when the first echo came, by the clock that all processes share */
  firstEcho: async ({ order, timeoutMs }: { order: LoadOrder; timeoutMs: number }): Promise<number> =>
    await firstEcho(order.entry, order.ports.echo, timeoutMs),
  /** Latencies count from here; what was done before is in the reading. */
  mark: (): Reading => {
    current().mark();
    return { count: current().count(), atMs: nowMs() };
  },
  count: (): Reading => ({ count: current().count(), atMs: nowMs() }),
  stop: async (): Promise<LatencySummary & Reading> => {
    const running = current();
    // Before the tunnels close: the last messages of a stopping workload meet less load than those before.
    const latencies = running.latencies();
    await running.stop();
    leaveSharedConnections();
    return { ...latencies, count: running.count(), atMs: nowMs() };
  },
  /** Those since `mark`, the last ones of a workload that was stopped included. */
  latencies: (): LatencySummary => current().latencies(),
  destroy: (): void => {
    workload?.destroy();
    leaveSharedConnections();
    workload = undefined;
  },
});
