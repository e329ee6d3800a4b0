import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type BufferBounds, Buffers, defaultBufferBounds } from '../../src/proxy/wire/buffers.ts';
import {
  INITIAL_WINDOW_BYTES,
  Inflow,
  type InflowOwner,
  MAX_WINDOW_BYTES,
  Outflow,
} from '../../src/proxy/wire/flow.ts';

function inflow(flow = true, bounds: BufferBounds = defaultBufferBounds) {
  const waiting = { bytes: 0 };
  const grants: number[] = [];
  let slow = 0;
  let overruns = 0;
  const owner: InflowOwner = {
    sendGrant: (bytes) => grants.push(bytes),
    onSlowConsumer: () => slow++,
    get bufferedBytes() {
      return waiting.bytes;
    },
    onSlowTail: () => assert.fail('the tunnel has not ended'),
    onOverrun: () => overruns++,
  };
  const receiver = new Inflow(owner, new Buffers(bounds), flow);
  return { receiver, waiting, grants, slow: () => slow, overruns: () => overruns };
}

describe('the sender of a direction', () => {
  it('stops at zero credit, says so once, and goes on with a grant', () => {
    let blocked = 0;
    const sender = new Outflow(true, { tellBlocked: () => blocked++ });
    assert.equal(sender.take(INITIAL_WINDOW_BYTES - 1), true);
    assert.equal(sender.take(100), false);
    assert.equal(sender.take(100), false);
    assert.equal(blocked, 1);
    assert.equal(sender.grant(100), false);
    assert.equal(sender.grant(1000), true);
    assert.equal(sender.take(2000), false);
    assert.equal(blocked, 2);
  });

  it('never stops towards a peer without flow control', () => {
    const sender = new Outflow(false, { tellBlocked: () => assert.fail('nothing may be sent') });
    assert.equal(sender.take(Number.MAX_SAFE_INTEGER), true);
  });

  it('ignores negative grants', () => {
    const sender = new Outflow(true, { tellBlocked: () => {} });
    sender.take(INITIAL_WINDOW_BYTES);
    assert.equal(sender.grant(-5), false);
    assert.equal(sender.grant(5), true);
  });
});

describe('the receiver of a direction', () => {
  it('grants what left it, in quarters of the window', () => {
    const { receiver, grants } = inflow();
    const quarter = INITIAL_WINDOW_BYTES / 4;
    receiver.received(quarter - 1, 0);
    assert.deepEqual(grants, []);
    receiver.received(1, 0);
    assert.deepEqual(grants, [quarter]);
  });

  it('grants each MiB of a wide window, so that the sender sees that a slow reader reads', () => {
    const { receiver, grants } = inflow();
    const MIB = 1024 * 1024;
    for (let i = 0; i < 20; i++) receiver.senderBlocked(0);
    const before = grants.length;
    receiver.received(16 * MIB, 16 * MIB);
    receiver.progressed(15 * MIB + 1);
    assert.deepEqual(grants.slice(before), []);
    receiver.progressed(15 * MIB);
    assert.deepEqual(grants.slice(before), [MIB]);
  });

  it('grants nothing for what still waits in it', () => {
    const { receiver, grants } = inflow();
    receiver.received(INITIAL_WINDOW_BYTES, INITIAL_WINDOW_BYTES);
    assert.deepEqual(grants, []);
    receiver.progressed(0);
    assert.deepEqual(grants, [INITIAL_WINDOW_BYTES]);
  });

  it('doubles the window when the sender was blocked and nothing waits, up to 16 MiB', () => {
    const { receiver, grants } = inflow();
    for (let i = 0; i < 20; i++) receiver.senderBlocked(0);
    const sum = grants.reduce((total, grant) => total + grant, 0);
    assert.equal(sum, MAX_WINDOW_BYTES - INITIAL_WINDOW_BYTES);
  });

  it('grows although a little waits, as it does of bulk at any moment', () => {
    const { receiver, grants } = inflow();
    receiver.received(INITIAL_WINDOW_BYTES, INITIAL_WINDOW_BYTES / 4);
    receiver.senderBlocked(INITIAL_WINDOW_BYTES / 4);
    const sum = grants.reduce((total, grant) => total + grant, 0);
    assert.equal(sum, INITIAL_WINDOW_BYTES + (INITIAL_WINDOW_BYTES * 3) / 4);
  });

  it('does not grow for a slow reader', () => {
    const { receiver, grants } = inflow();
    receiver.received(INITIAL_WINDOW_BYTES, INITIAL_WINDOW_BYTES);
    receiver.senderBlocked(INITIAL_WINDOW_BYTES / 4 + 1);
    assert.deepEqual(grants, []);
  });

  it('lets the reader of a sender that obeys grants pause for ever', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { receiver, slow } = inflow(true, {
      ...defaultBufferBounds,
      softBytes: 10,
      hardBytes: 100,
      stallMs: 30,
    });
    receiver.received(INITIAL_WINDOW_BYTES, INITIAL_WINDOW_BYTES);
    t.mock.timers.tick(1_000_000);
    assert.equal(slow(), 0);
    receiver.end(0);
  });

  it('takes no more than one packet beyond what it granted', () => {
    const { receiver, overruns } = inflow();
    receiver.received(INITIAL_WINDOW_BYTES + 4 * 1024 * 1024, INITIAL_WINDOW_BYTES);
    assert.equal(overruns(), 0);
    const greedy = inflow();
    greedy.receiver.received(INITIAL_WINDOW_BYTES + 4 * 1024 * 1024 + 1, INITIAL_WINDOW_BYTES);
    assert.equal(greedy.overruns(), 1);
  });

  it('grants nothing to a peer without flow control', () => {
    const { receiver, grants } = inflow(false);
    receiver.received(10 * INITIAL_WINDOW_BYTES, 0);
    assert.deepEqual(grants, []);
  });

  it('gives a reader up at once when more than the hard bound waits', () => {
    const { receiver, slow } = inflow(false, {
      ...defaultBufferBounds,
      softBytes: 10,
      hardBytes: 100,
      stallMs: 3_600_000,
    });
    receiver.received(100, 100);
    assert.equal(slow(), 0);
    receiver.received(1, 101);
    assert.equal(slow(), 1);
    receiver.received(100, 201);
    assert.equal(slow(), 1);
  });

  it('counts what tiny packets cost beside their payload, above the first window', () => {
    const bounds = {
      ...defaultBufferBounds,
      softBytes: 4 * INITIAL_WINDOW_BYTES,
      hardBytes: 8 * INITIAL_WINDOW_BYTES,
      stallMs: 3_600_000,
    };
    const tiny = inflow(false, bounds);
    for (let waiting = 1; waiting <= INITIAL_WINDOW_BYTES; waiting++) tiny.receiver.received(1, waiting);
    assert.equal(tiny.slow(), 0);
    tiny.receiver.received(1, INITIAL_WINDOW_BYTES + 1);
    assert.equal(tiny.slow(), 1);
    const large = inflow(false, bounds);
    for (let waiting = 0; waiting < 7 * INITIAL_WINDOW_BYTES; waiting += 65_536) {
      large.receiver.received(65_536, waiting + 65_536);
    }
    assert.equal(large.slow(), 0);
    large.receiver.end(0);
  });

  it('gives a reader up that takes nothing for the stall time while more than the soft bound waits', async () => {
    await new Promise<void>((resolve) => {
      const owner: InflowOwner = {
        sendGrant: () => {},
        onSlowConsumer: resolve,
        bufferedBytes: 11,
        onSlowTail: () => {},
        onOverrun: () => {},
      };
      const bounds = { ...defaultBufferBounds, softBytes: 10, hardBytes: 100, stallMs: 20 };
      const receiver = new Inflow(owner, new Buffers(bounds), false);
      receiver.received(11, 11);
    });
  });

  it('keeps a slow reader that takes something, also when nobody tells of it', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const bounds = { ...defaultBufferBounds, softBytes: 10, hardBytes: 1000, stallMs: 30 };
    const { receiver, waiting, slow } = inflow(false, bounds);
    receiver.received(100, 100);
    for (waiting.bytes = 90; waiting.bytes > 20; waiting.bytes -= 10) t.mock.timers.tick(30);
    assert.equal(slow(), 0);
    t.mock.timers.tick(30);
    t.mock.timers.tick(30);
    assert.equal(slow(), 1);
  });

  it('keeps a slow reader that takes something', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { receiver, slow } = inflow(false, {
      ...defaultBufferBounds,
      softBytes: 10,
      hardBytes: 1000,
      stallMs: 30,
    });
    receiver.received(100, 100);
    for (let left = 90; left > 20; left -= 10) {
      t.mock.timers.tick(29);
      receiver.progressed(left);
    }
    assert.equal(slow(), 0);
    receiver.end(0);
    t.mock.timers.tick(1000);
    assert.equal(slow(), 0);
  });
});
