import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Fault } from '../../src/proxy/ops/fault.ts';
import { applyDrain } from '../../src/tui/link/act.ts';
import { FakeFleet } from '../peers/fake-fleet.ts';

const never = new AbortController().signal;

describe('a drain at several servers', () => {
  const fleetOf = (): { fleet: FakeFleet; asked: Parameters<typeof applyDrain>[0] } => {
    const fleet = new FakeFleet('cp-2', 'cp-1');
    for (const id of ['node-a', 'node-b']) fleet.agent(id);
    return { fleet, asked: fleet.servers.map((client) => ({ id: client.id, client })) };
  };

  it('ends with nothing changed when the one with the least ID, which is asked first, refuses', async () => {
    const { fleet, asked } = fleetOf();
    const [later, first] = fleet.servers;
    assert.ok(later && first);
    first.nextRefusal = new Fault('admin-refused', 'somebody was faster');
    await assert.rejects(applyDrain(asked, { agentIds: ['node-a'] }, never), /somebody was faster/);
    assert.deepEqual([first.stored.size, later.stored.size], [0, 0]);
  });

  it('tells of a server that refuses after another one took the order', async () => {
    const { fleet, asked } = fleetOf();
    const [later, first] = fleet.servers;
    assert.ok(later && first);
    later.nextRefusal = new Fault('admin-refused', 'somebody was faster');
    const { results, failures } = await applyDrain(asked, { agentIds: ['node-a'] }, never);
    assert.deepEqual(
      [results.map(({ change }) => change), failures],
      [['placed'], [{ server: 'cp-2', reason: 'somebody was faster' }]],
    );
    assert.equal(first.stored.size, 1);
  });
});
