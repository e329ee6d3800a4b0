import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { Fault } from '../../src/proxy/ops/fault.ts';
import { createLog } from '../../src/proxy/ops/log.ts';
import type { Backend } from '../../src/proxy/server/backend.ts';
import { defaultDrainBounds } from '../../src/proxy/server/drain/drain-bounds.ts';
import { DrainControl } from '../../src/proxy/server/drain/drain-control.ts';
import type { DrainEvent } from '../../src/proxy/server/drain/drain-words.ts';
import { formatOrders, type KeptOrders, parseOrders } from '../../src/proxy/server/drain/order-file.ts';
import { type Disk, realDisk, StateFile } from '../../src/proxy/server/drain/state-file.ts';
import { StreamRegistry } from '../../src/proxy/server/selection/stream-registry.ts';
import { NO_IDENTIFIERS } from '../../src/proxy/wire/identifiers.ts';
import { ManualClock } from '../peers/manual-clock.ts';

const alice = { actor: 'alice', actorClaimed: false };
const HOUR_MS = 3_600_000;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kts-state-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

interface Running {
  readonly control: DrainControl;
  readonly lines: string[];
  readonly events: DrainEvent[];
  readonly clock: ManualClock;
  connect(agentId: string, instance?: string): void;
  disconnect(agentId: string): void;
}

/** A server's drain control with the state directory, and Go agents or agents of ours by hand. */
async function run(options: { disk?: Disk; clock?: ManualClock; path?: string } = {}): Promise<Running> {
  const { clock = new ManualClock() } = options;
  const registry = new StreamRegistry<Backend>({ strategies: ['default'], now: () => 0 });
  const lines: string[] = [];
  const events: DrainEvent[] = [];
  const control = new DrainControl({
    registry,
    drainingFallback: 'last-resort',
    log: createLog({ verbosity: 3, write: (line) => lines.push(line) }),
    clock,
    bounds: { ...defaultDrainBounds, writePauseMs: 0, sweepMs: HOUR_MS },
    stateDirectory: options.path ?? directory,
    ...(options.disk === undefined ? {} : { disk: options.disk }),
    onEvent: (event) => events.push(event),
  });
  await control.open();
  const backends = new Map<string, Backend>();
  return {
    control,
    lines,
    events,
    clock,
    connect: (agentId, instance) => {
      const backend = {
        agentId,
        identifiers: NO_IDENTIFIERS,
        instance,
        announces: false,
        ours: instance !== undefined,
        features: new Set(),
        tunnels: new Map(),
      } as unknown as Backend;
      backends.set(agentId, backend);
      registry.register(backend, { draining: control.connecting(backend) });
    },
    disconnect: (agentId) => {
      const backend = backends.get(agentId) as Backend;
      registry.remove(backend);
      control.disconnected(backend);
    },
  };
}

const kept = (): KeptOrders => parseOrders(readFileSync(join(directory, 'orders.json'), 'utf8'));

/** Each call of the disk, counted; the one with that number fails, after half of a text was written. */
function failingDisk(failAt: number, code = 'EIO'): Disk & { calls: number } {
  const disk = { calls: 0 } as Disk & { calls: number };
  const fails = (): boolean => disk.calls++ === failAt;
  const fail = (): never => {
    throw Object.assign(new Error(`${code}: made to fail`), { code });
  };
  disk.mkdir = (path) => realDisk.mkdir(path);
  disk.readFile = (path) => realDisk.readFile(path);
  disk.rename = async (from, to) => (fails() ? fail() : realDisk.rename(from, to));
  disk.open = async (path, flags) => {
    if (fails()) fail();
    const file = await realDisk.open(path, flags);
    return {
      write: async (text) => {
        if (!fails()) return file.write(text);
        await file.write(text.slice(0, text.length / 2));
        return fail();
      },
      sync: async () => (fails() ? fail() : file.sync()),
      close: () => file.close(),
    };
  };
  return disk;
}

describe('a state file', () => {
  const CALLS = 6;

  it(`is replaced by ${CALLS} calls that may fail`, async () => {
    const disk = failingDisk(-1);
    await new StateFile(directory, 'f', disk).replace('new');
    assert.equal(disk.calls, CALLS);
  });

  for (let failAt = 0; failAt < CALLS; failAt++) {
    it(`is the old or the new one as a whole when call ${failAt} fails, and can be replaced afterwards`, async () => {
      await new StateFile(directory, 'f').replace('the old text');
      const broken = new StateFile(directory, 'f', failingDisk(failAt));
      await assert.rejects(broken.replace('the new text'), { code: 'EIO' });
      const text = readFileSync(broken.path, 'utf8');
      assert.equal(text, failAt < 4 ? 'the old text' : 'the new text');
      await new StateFile(directory, 'f').replace('after the restart');
      assert.equal(readFileSync(broken.path, 'utf8'), 'after the restart');
      assert.deepEqual(readdirSync(directory), ['f']);
    });
  }
});

describe('kept orders', () => {
  it('are what was written', () => {
    const written: KeptOrders = {
      orders: [
        {
          id: 'a1',
          agentId: 'node "a"\n',
          version: 3,
          actor: 'alice',
          actorClaimed: true,
          reason: 'kernel',
          sinceUnixMs: 5,
          deadlineUnixMs: 9,
          atDeadline: 'close',
          until: 'restart',
          instance: 'i',
          overdue: true,
          goneSinceUnixMs: 7,
        },
      ],
      ended: [{ id: 'b2', agentId: 'c', atUnixMs: 4, byRestart: false }],
    };
    assert.deepEqual(parseOrders(formatOrders(written)), written);
  });

  for (const [name, text] of [
    ['empty', ''],
    ['cut off', '{"format":1,"orders":[{"id":"a"'],
    ['of a later format', '{"format":2,"orders":[],"ended":[]}'],
    ['with an order that lacks a field', '{"format":1,"orders":[{"id":"a"}],"ended":[]}'],
    ['no object', '[]'],
  ] as const) {
    it(`that are ${name} are set aside, which is said, and the server begins without any`, async () => {
      writeFileSync(join(directory, 'orders.json'), text);
      const one = await run();
      assert.deepEqual(one.control.orders(), []);
      const aside = readdirSync(directory).filter((file) => file.startsWith('orders.json.damaged-'));
      assert.equal(aside.length, 1);
      assert.match(aside[0] as string, /^orders\.json\.damaged-\d{8}T\d{6}Z$/);
      assert.equal(readFileSync(join(directory, aside[0] as string), 'utf8'), text);
      assert.ok(one.lines.some((line) => line.includes('cannot be read') && line.includes('damaged-')));
      assert.deepEqual(
        one.events.map(({ type }) => type),
        ['orders-damaged'],
      );
      await one.control.close();
    });
  }
});

describe('a state directory', () => {
  it('brings an order through a restart, with its mark from the first instant', async () => {
    const before = await run();
    before.connect('a');
    before.connect('b');
    before.control.drain({
      agentIds: ['a'],
      reason: 'kernel',
      atDeadline: 'close',
      deadlineMs: HOUR_MS,
      ...alice,
    });
    const [order] = before.control.orders();
    assert.deepEqual(await before.control.durable(), []);
    // As after a crash: nothing is closed.
    const after = await run({ clock: before.clock });
    assert.deepEqual(after.control.orders(), [order]);
    after.connect('a');
    assert.equal(after.control.undrain({ agentIds: ['a'], ...alice })[0]?.change, 'ended');
    await after.control.close();
    await before.control.close();
  });

  it('has orders of agents that have not connected since: they cannot be made to end with a restart, and it is said why', async () => {
    const before = await run();
    before.connect('a', 'one');
    before.connect('b', 'one');
    before.control.drain({ agentIds: ['a'], ...alice });
    await before.control.close();
    const after = await run();
    const update = () => after.control.drain({ agentIds: ['a'], until: 'restart', force: true, ...alice });
    assert.throws(update, /agent a has not connected since this server started/);
    after.connect('a', 'one');
    assert.equal(update()[0]?.change, 'updated');
    await after.control.close();
  });

  it('is readable by its owner alone', async () => {
    const path = join(directory, 'made');
    const one = await run({ path });
    assert.equal(statSync(path).mode & 0o777, 0o700);
    assert.equal(statSync(join(path, 'orders.json')).mode & 0o777, 0o600);
    await one.control.close();
  });

  it('remembers ended orders, so that an agent that still has one is told', async () => {
    const before = await run();
    before.connect('a');
    before.connect('b');
    const [outcome] = before.control.drain({ agentIds: ['a'], ...alice });
    before.control.undrain({ agentIds: ['a'], ...alice });
    await before.control.close();
    assert.deepEqual(
      kept().ended.map(({ id, agentId }) => [id, agentId]),
      [[outcome?.order.id, 'a']],
    );
    const after = await run();
    after.connect('a');
    after.connect('b');
    const orderIds = new Map([['a', outcome?.order.id as string]]);
    assert.throws(() => after.control.drain({ agentIds: ['a'], orderIds, ...alice }), /has ended/);
    await after.control.close();
  });

  it('acts at the start on a deadline that passed while the server was down, and says so', async () => {
    const before = await run();
    before.connect('a');
    before.connect('b');
    before.control.drain({ agentIds: ['a'], deadlineMs: HOUR_MS, ...alice });
    await before.control.close();
    const clock = new ManualClock();
    clock.advance(2 * HOUR_MS);
    const after = await run({ clock });
    clock.advance(0);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(after.control.orderOf('a')?.overdue, true);
    assert.ok(after.lines.some((line) => line.includes('The deadline of a drain order passed')));
    await after.control.close();
    const again = await run({ clock });
    assert.equal(again.control.orderOf('a')?.overdue, true);
    clock.advance(0);
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(!again.lines.some((line) => line.includes('deadline')), 'said twice');
    await again.control.close();
  });

  it('writes many changes of one moment at once', async () => {
    const disk = failingDisk(-1);
    const one = await run({ disk });
    const agentIds = Array.from({ length: 500 }, (_, i) => `agent-${i}`);
    for (const agentId of [...agentIds, 'ready']) one.connect(agentId);
    const before = disk.calls;
    for (const agentId of agentIds) one.control.drain({ agentIds: [agentId], ...alice });
    await one.control.durable();
    assert.equal(disk.calls - before, 6);
    assert.equal(kept().orders.length, 500);
    await one.control.close();
  });

  it('that is full is said once; the order holds, with a note, and is written when there is room', async () => {
    const disk = failingDisk(-1);
    let full = false;
    const { open } = disk;
    disk.open = (path, flags) =>
      full
        ? Promise.reject(Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' }))
        : open(path, flags);
    const one = await run({ disk });
    one.connect('a');
    one.connect('b');
    one.connect('c');
    full = true;
    one.control.drain({ agentIds: ['a'], ...alice });
    assert.match((await one.control.durable()).join(), /would not survive a restart/);
    one.control.drain({ agentIds: ['b'], ...alice });
    assert.match((await one.control.durable()).join(), /ENOSPC/);
    assert.equal(one.control.orders().length, 2);
    assert.equal(one.lines.filter((line) => line.includes('cannot be kept')).length, 1);
    full = false;
    one.clock.advance(defaultDrainBounds.writeRetryMs);
    assert.deepEqual(await one.control.durable(), []);
    assert.equal(kept().orders.length, 2);
    assert.deepEqual(
      one.events.map(({ type }) => type).filter((type) => type.startsWith('orders-')),
      ['orders-not-kept', 'orders-kept'],
    );
    await one.control.close();
  });

  it('that is full at the start does not keep the server from starting', async () => {
    const disk = failingDisk(1, 'ENOSPC');
    const one = await run({ disk });
    assert.ok(one.lines.some((line) => line.includes('cannot be kept')));
    assert.deepEqual(await one.control.durable(), []);
    await one.control.close();
  });

  for (const [name, path, text] of [
    ['a file', () => join(directory, 'file'), /ENOTDIR|EEXIST/],
    ['below a directory that is missing', () => join(directory, 'no', 'where'), /ENOENT/],
  ] as const) {
    it(`that is ${name} is refused in one line`, async () => {
      writeFileSync(join(directory, 'file'), '');
      await assert.rejects(run({ path: path() }), (error: unknown) => {
        assert.ok(error instanceof Fault);
        assert.equal(error.code, 'state-directory');
        assert.match(error.line, /^--state-dir .* cannot be used: /);
        assert.match(error.line, text);
        assert.ok(!error.line.includes('\n'));
        return true;
      });
    });
  }

  it('in which orders.json is a directory is refused', async () => {
    mkdirSync(join(directory, 'orders.json'));
    await assert.rejects(run(), { code: 'state-directory' });
  });

  it('lets the order of an agent that is gone for a day expire, also over a restart, which is said', async () => {
    const before = await run();
    before.connect('a');
    before.connect('b');
    before.control.drain({ agentIds: ['a'], ...alice });
    before.disconnect('a');
    before.clock.advance(HOUR_MS);
    await before.control.close();
    const after = await run({ clock: before.clock });
    after.clock.advance(22 * HOUR_MS);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(after.control.orders().length, 1);
    after.clock.advance(2 * HOUR_MS);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(after.control.orders(), []);
    assert.ok(after.lines.some((line) => line.includes('the agent is gone for too long')));
    await after.control.close();
  });
});
