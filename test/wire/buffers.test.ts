import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Buffers, defaultBufferBounds } from '../../src/proxy/wire/buffers.ts';
import { INITIAL_WINDOW_BYTES, Inflow } from '../../src/proxy/wire/flow.ts';

function tunnel(buffers: Buffers, flow = false) {
  const seen = { slow: 0, slowTails: 0, granted: 0 };
  const owner = {
    sendGrant: (bytes: number) => {
      seen.granted += bytes;
    },
    onSlowConsumer: () => seen.slow++,
    bufferedBytes: 0,
    onSlowTail: () => seen.slowTails++,
    onOverrun: () => {},
  };
  const inflow = new Inflow(owner, buffers, flow);
  return { inflow, seen };
}

it('when all tunnels hold more than the budget, the one that holds most is closed, and no other', () => {
  const buffers = new Buffers({ ...defaultBufferBounds, budgetBytes: 1_000 });
  const [a, b, c] = [tunnel(buffers), tunnel(buffers), tunnel(buffers)];
  a.inflow.received(300, 300);
  b.inflow.received(500, 500);
  c.inflow.received(201, 201);
  assert.deepEqual([a.seen.slow, b.seen.slow, c.seen.slow], [0, 1, 0]);
  assert.equal(buffers.heldBytes, 501);
});

it('what readers take is counted out again', () => {
  const buffers = new Buffers(defaultBufferBounds);
  const [a, b] = [tunnel(buffers), tunnel(buffers)];
  a.inflow.received(300, 300);
  b.inflow.received(400, 400);
  a.inflow.progressed(100);
  assert.equal(buffers.heldBytes, 500);
  a.inflow.progressed(0);
  b.inflow.progressed(0);
  assert.equal(buffers.heldBytes, 0);
});

it('what waits for a reader behind the end of its tunnel counts until it is taken or dropped', () => {
  const buffers = new Buffers(defaultBufferBounds);
  const [a, b] = [tunnel(buffers), tunnel(buffers)];
  a.inflow.received(300, 300);
  b.inflow.received(400, 400);
  a.inflow.end(300);
  b.inflow.end(400);
  assert.equal(buffers.heldBytes, 700);
  a.inflow.progressed(100);
  assert.equal(buffers.heldBytes, 500);
  a.inflow.progressed(0);
  b.inflow.dropped();
  assert.equal(buffers.heldBytes, 0);
});

it('the tail of an ended tunnel is dropped when it is the most that is held, and once', () => {
  const buffers = new Buffers({ ...defaultBufferBounds, budgetBytes: 1_000 });
  const [a, b] = [tunnel(buffers), tunnel(buffers)];
  a.inflow.received(600, 600);
  a.inflow.end(600);
  b.inflow.received(401, 401);
  b.inflow.received(400, 801);
  assert.deepEqual([a.seen.slow, a.seen.slowTails, b.seen.slow, b.seen.slowTails], [0, 1, 0, 0]);
  assert.equal(buffers.heldBytes, 801);
});

it('windows grow only as far as the budget can promise, and give back what they had', () => {
  const buffers = new Buffers({ ...defaultBufferBounds, budgetBytes: 3 * INITIAL_WINDOW_BYTES });
  const [a, b] = [tunnel(buffers, true), tunnel(buffers, true)];
  a.inflow.senderBlocked(0);
  a.inflow.senderBlocked(0);
  b.inflow.senderBlocked(0);
  assert.deepEqual([a.seen.granted, b.seen.granted], [3 * INITIAL_WINDOW_BYTES, 0]);
  a.inflow.end(0);
  b.inflow.senderBlocked(0);
  assert.equal(b.seen.granted, INITIAL_WINDOW_BYTES);
  b.inflow.end(0);
  assert.equal(buffers.promisedBytes, 0);
});
