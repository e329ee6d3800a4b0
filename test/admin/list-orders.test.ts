import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { listOrders } from '../../src/proxy/admin/service/list-orders.ts';
import { Fault } from '../../src/proxy/ops/fault.ts';
import type { DrainOrder } from '../../src/proxy/server/drain/drain-command.ts';

const order = (agentId: string): DrainOrder => ({
  id: `of-${agentId}`,
  agentId,
  version: 1,
  actor: 'ann',
  actorClaimed: true,
  reason: '',
  sinceUnixMs: 0,
  deadlineUnixMs: undefined,
  atDeadline: 'keep',
  until: 'undrain',
  relayed: false,
  acknowledged: true,
  overdue: false,
});
const orders = ['d', 'a', 'c', 'b', 'e'].map(order);

describe('orders', () => {
  it('come in pages that hold each once, by agent', () => {
    const seen: string[][] = [];
    let pageToken = '';
    do {
      const page = listOrders(orders, { pageSize: 2, pageToken });
      seen.push(page.orders.map(({ agentId }) => agentId));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    assert.deepEqual(seen, [['a', 'b'], ['c', 'd'], ['e']]);
  });

  it('come in no page of more than 1,000', () => {
    const many = Array.from({ length: 1_001 }, (_, i) => order(`agent-${i}`));
    const page = listOrders(many, { pageSize: 5_000 });
    assert.deepEqual([page.orders.length, page.nextPageToken !== ''], [1_000, true]);
    assert.deepEqual(listOrders([], {}), { orders: [], nextPageToken: '' });
  });

  it('are not given out for a token or size that makes no sense', () => {
    for (const request of [
      { pageToken: '?' },
      { pageToken: 'A' },
      { pageToken: 'x'.repeat(5_000) },
      { pageSize: -1 },
    ]) {
      assert.throws(
        () => listOrders(orders, request),
        (error) => error instanceof Fault && error.code === 'admin-bad-request',
      );
    }
  });
});
