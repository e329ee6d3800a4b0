import assert from 'node:assert/strict';
import { it } from 'node:test';
import { silentLog } from '../../src/proxy/ops/log.ts';
import type { Backend } from '../../src/proxy/server/backend.ts';
import { defaultDrainBounds } from '../../src/proxy/server/drain/drain-bounds.ts';
import { DrainControl } from '../../src/proxy/server/drain/drain-control.ts';
import { parseOrders } from '../../src/proxy/server/drain/order-file.ts';
import { StreamRegistry } from '../../src/proxy/server/selection/stream-registry.ts';
import { NO_IDENTIFIERS } from '../../src/proxy/wire/identifiers.ts';
import { CrashingDisk } from '../peers/crashing-disk.ts';
import { ManualClock } from '../peers/manual-clock.ts';

const alice = { actor: 'alice', actorClaimed: false };
const DIRECTORY = '/state';

interface Started {
  readonly control: DrainControl;
  readonly events: string[];
  /** Resolves when it has read what was kept. */
  readonly opened: Promise<void>;
}

/** The drain control of a server with two Go agents. */
function start(disk: CrashingDisk): Started {
  const registry = new StreamRegistry<Backend>({ strategies: ['default'], now: () => 0 });
  const events: string[] = [];
  const control = new DrainControl({
    registry,
    drainingFallback: 'last-resort',
    log: silentLog,
    clock: new ManualClock(),
    bounds: { ...defaultDrainBounds, writePauseMs: 0 },
    stateDirectory: DIRECTORY,
    disk,
    onEvent: ({ type }) => events.push(type),
  });
  const opened = control.open().then(() => {
    for (const agentId of ['a', 'b', 'c']) {
      const backend = {
        agentId,
        identifiers: NO_IDENTIFIERS,
        announces: false,
        ours: false,
        features: new Set(),
        tunnels: new Map(),
      } as unknown as Backend;
      registry.register(backend, { draining: control.connecting(backend) });
    }
  });
  return { control, events, opened };
}

const CHANGES: readonly ((control: DrainControl) => unknown)[] = [
  (control) => control.drain({ agentIds: ['a'], orderIds: new Map([['a', 'one']]), ...alice }),
  (control) => control.drain({ agentIds: ['a'], reason: 'kernel', ...alice }),
  (control) => control.drain({ agentIds: ['b'], orderIds: new Map([['b', 'two']]), ...alice }),
  (control) => control.undrain({ agentIds: ['a'], ...alice }),
];
/** Orders, and IDs of those that ended, after so many changes. */
const STATES: readonly string[] = [
  'none; ended: none',
  'one 1 ""; ended: none',
  'one 2 "kernel"; ended: none',
  'one 2 "kernel", two 1 ""; ended: none',
  'two 1 ""; ended: one',
];

/** Makes the changes one after the other, each when the last is acknowledged. @returns how many were, and were made */
async function change(disk: CrashingDisk): Promise<{ acknowledged: number; made: number }> {
  const { control, opened } = start(disk);
  const stopped = disk.stopped.then(() => true);
  let acknowledged = 0;
  if (await Promise.race([opened, stopped])) return { acknowledged, made: 0 };
  for (const one of CHANGES) {
    one(control);
    const isOver = await Promise.race([control.durable().then((notes) => notes.length > 0), stopped]);
    if (isOver) return { acknowledged, made: acknowledged + 1 };
    acknowledged++;
  }
  return { acknowledged, made: acknowledged };
}

/** What a server that starts with that disk knows. */
async function after(disk: CrashingDisk): Promise<{ state: string; events: string[] }> {
  const { control, events, opened } = start(disk);
  await opened;
  const orders = control
    .orders()
    .map(({ id, version, reason }) => `${id} ${version} ${JSON.stringify(reason)}`);
  const { ended } = parseOrders(await disk.readFile(`${DIRECTORY}/orders.json`));
  const list = (items: string[]): string => (items.length === 0 ? 'none' : items.sort().join(', '));
  return { state: `${list(orders)}; ended: ${list(ended.map(({ id }) => id))}`, events };
}

it('whenever the machine loses power, a server has after it all that it acknowledged, or the change that was being made', async () => {
  let stops = 0;
  for (let stopAt = 0; ; stopAt++) {
    const disk = new CrashingDisk(stopAt);
    const { acknowledged, made } = await change(disk);
    if (acknowledged === CHANGES.length) break;
    stops++;
    for (const found of disk.found()) {
      const { state, events } = await after(found);
      assert.ok(
        state === STATES[acknowledged] || state === STATES[made],
        `stopped at call ${stopAt}, after ${acknowledged} of ${made} changes: ${state}`,
      );
      assert.deepEqual(events, [], `stopped at call ${stopAt}`);
    }
  }
  // Of the start and of each change: open, write, sync, close, rename, open, sync, close; and mkdir, read.
  assert.equal(stops, 2 + 8 * (1 + CHANGES.length));
});
