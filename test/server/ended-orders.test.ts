import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EndedOrders } from '../../src/proxy/server/drain/ended-orders.ts';

const ended = (id: string, agentId = 'a', byRestart = false) => ({ id, agentId, atUnixMs: 0, byRestart });

it('IDs are remembered by the clock that never goes back', () => {
  const orders = new EndedOrders({ keepMs: 100, most: 10 });
  orders.add({ ...ended('one'), atUnixMs: 1e15 }, 1_000);
  orders.addHeard(ended('two'), 1_000);
  assert.equal(orders.expire(1_100), 0);
  assert.deepEqual([orders.has('a', 'one'), orders.has('a', 'two')], [true, true]);
  assert.equal(orders.expire(1_101), 1);
  assert.deepEqual([orders.has('a', 'one'), orders.has('a', 'two')], [false, false]);
});

it('what agents say pushes out what agents said, and nothing else; only the rest is kept on disk', () => {
  const orders = new EndedOrders({ keepMs: 100, most: 2 });
  orders.add(ended('mine'), 0);
  for (const id of ['b', 'c', 'd']) orders.addHeard(ended(`of-${id}`, id), 0);
  assert.deepEqual(
    [orders.has('a', 'mine'), orders.has('b', 'of-b'), orders.has('d', 'of-d')],
    [true, false, true],
  );
  orders.addHeard(ended('mine'), 0);
  assert.deepEqual(orders.kept(), [ended('mine')]);
});

it('one agent is remembered with 64 IDs of each kind at most', () => {
  const orders = new EndedOrders({ keepMs: 100, most: 1_000 });
  for (let i = 0; i < 65; i++) orders.add(ended(`own-${i}`), 0);
  for (let i = 0; i < 65; i++) orders.addHeard(ended(`heard-${i}`), 0);
  const has = ['own-0', 'own-1', 'heard-0', 'heard-1'].map((id) => orders.has('a', id));
  assert.deepEqual(has, [false, true, false, true]);
});
