import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Agent } from '../../src/proxy/admin/model/agent.ts';
import { mergeAgents, type ServerView, worstOf } from '../../src/proxy/admin/model/merge-agents.ts';
import { adminAgent, adminOrder, adminStream, minutesAgo } from '../peers/admin-agent.ts';

describe('agents of several servers', () => {
  const view = (serverId: string, ...agents: Agent[]): ServerView => ({ serverId, serverCount: 2, agents });
  const lost = (serverId: string): ServerView => ({ serverId });
  const both = (one: Partial<Agent>, two: Partial<Agent>): Agent => {
    const [merged, ...more] = mergeAgents([
      view('cp-1', adminAgent('node-a', { serverIds: ['cp-1', 'cp-2'], ...one })),
      view('cp-2', adminAgent('node-a', { serverIds: ['cp-1', 'cp-2'], ...two })),
    ]);
    assert.deepEqual(more, []);
    return merged as Agent;
  };

  it('come once for each ID, in the order of the IDs', () => {
    const merged = mergeAgents([
      view('cp-1', adminAgent('node-c'), adminAgent('node-a')),
      view('cp-2', adminAgent('node-b'), adminAgent('node-a')),
    ]);
    assert.deepEqual(
      merged.map((agent) => agent.id),
      ['node-a', 'node-b', 'node-c'],
    );
  });

  it('are what the one server says when there is one', () => {
    const agent = adminAgent('node-a', { order: adminOrder('node-a'), conditions: ['slow'], tunnels: 3 });
    assert.deepEqual(mergeAgents([{ serverId: 'cp-1', serverCount: 1, agents: [agent] }]), [agent]);
  });

  it('of ours have the totals that they say, and what each server sees is added up', () => {
    const merged = both({ tunnels: 5, tunnelsHere: 2 }, { tunnels: 5, tunnelsHere: 3 });
    assert.equal(merged.tunnels, 5);
    assert.equal(merged.tunnelsHere, 5);
  });

  it('of Go have the totals that the servers see together', () => {
    const merged = both(
      { kind: 'go', tunnels: 2, tunnelsHere: 2 },
      { kind: 'go', tunnels: 3, tunnelsHere: 3 },
    );
    assert.equal(merged.tunnels, 5);
  });

  it('are drained only where every server says so', () => {
    assert.equal(both({ state: 'drained' }, { state: 'drained' }).state, 'drained');
    const half = both({ state: 'drained' }, { state: 'draining' });
    assert.equal(half.state, 'draining');
    assert.deepEqual(half.conditions, []);
  });

  it('are partial where one server drains them and another does not', () => {
    const merged = both({ state: 'draining' }, { state: 'ready' });
    assert.equal(merged.state, 'draining');
    assert.deepEqual(merged.conditions, ['partial']);
    assert.equal(merged.safeToStop, false);
  });

  it('are partial where servers have different orders', () => {
    const merged = both(
      { state: 'draining', order: adminOrder('node-a', { id: 'one' }) },
      { state: 'draining', order: adminOrder('node-a', { id: 'two' }) },
    );
    assert.deepEqual(merged.conditions, ['partial']);
  });

  it('are gone only where no server has them', () => {
    assert.equal(both({ state: 'gone', streams: [] }, { state: 'ready' }).state, 'ready');
    assert.equal(both({ state: 'gone' }, { state: 'gone' }).state, 'gone');
  });

  it('have the order that is known best: the newest version, stored before relayed', () => {
    const merged = both(
      { order: adminOrder('node-a', { version: 2, relayed: true }) },
      { order: adminOrder('node-a', { version: 2, reason: 'stored' }) },
    );
    assert.equal(merged.order?.reason, 'stored');
    const newer = both(
      { order: adminOrder('node-a', { version: 1 }) },
      { order: adminOrder('node-a', { version: 3, relayed: true, reason: 'newer' }) },
    );
    assert.equal(newer.order?.reason, 'newer');
  });

  it('of ours are partial when a server that they use did not answer', () => {
    const agent = adminAgent('node-a', { serverIds: ['cp-1', 'cp-2'], safeToStop: true });
    assert.deepEqual(mergeAgents([view('cp-1', agent), lost('cp-2')])[0]?.conditions, ['partial']);
    const alone = adminAgent('node-a', { serverIds: ['cp-1'] });
    assert.deepEqual(mergeAgents([view('cp-1', alone), lost('cp-2')])[0]?.conditions, []);
  });

  it('of Go are partial until as many servers answered as there are', () => {
    const agent = adminAgent('node-g', { kind: 'go', conditions: ['partial'] });
    assert.deepEqual(mergeAgents([view('cp-1', agent)])[0]?.conditions, ['partial']);
    assert.deepEqual(mergeAgents([view('cp-1', agent), view('cp-2', agent)])[0]?.conditions, []);
    assert.deepEqual(mergeAgents([view('cp-1', agent), view('cp-2')])[0]?.conditions, []);
    assert.deepEqual(mergeAgents([view('cp-1', agent), lost('cp-2')])[0]?.conditions, ['partial']);
  });

  it('of ours may be stopped when one server says it, which has the word of the others through the agent', () => {
    assert.equal(both({ safeToStop: true }, { safeToStop: true }).safeToStop, true);
    assert.equal(both({ safeToStop: true }, { safeToStop: false }).safeToStop, false);
    const agent = adminAgent('node-a', { serverIds: ['cp-1', 'cp-2'], safeToStop: true });
    assert.equal(mergeAgents([view('cp-1', agent)])[0]?.safeToStop, true);
    assert.equal(mergeAgents([view('cp-1', { ...agent, safeToStop: false })])[0]?.safeToStop, false);
  });

  it('of ours that cannot carry that word may be stopped when all their servers were asked', () => {
    const drained = { state: 'drained', safeToStop: false, replacements: 1 } as const;
    assert.equal(both(drained, drained).safeToStop, true);
    assert.equal(both(drained, { ...drained, lastFor: ['host a'] }).safeToStop, false);
    assert.equal(both(drained, { ...drained, replacements: 0 }).safeToStop, false);
    assert.equal(both(drained, { ...drained, state: 'draining' }).safeToStop, false);
  });

  it('of Go may be stopped when they are drained at all servers, and the last for nothing', () => {
    const drained = { kind: 'go', state: 'drained' } as const;
    assert.equal(both(drained, drained).safeToStop, true);
    assert.equal(both(drained, { ...drained, lastFor: ['host a'] }).safeToStop, false);
    assert.equal(both(drained, { ...drained, state: 'draining' }).safeToStop, false);
    assert.equal(mergeAgents([view('cp-1', adminAgent('node-g', drained))])[0]?.safeToStop, false);
  });

  for (const condition of ['late', 'unresponsive', 'duplicate', 'partial'] as const) {
    it(`may not be stopped while they are ${condition}`, () => {
      const agent = { kind: 'go', state: 'drained' } as const;
      const odd = both(agent, { ...agent, conditions: [condition] });
      assert.equal(odd.safeToStop, condition === 'partial');
      const ours = both({ safeToStop: true }, { safeToStop: true, conditions: [condition] });
      assert.equal(ours.safeToStop, false);
    });
  }

  it('keep streams, destinations and conditions of all servers, and show two instances as a duplicate', () => {
    const merged = both(
      { conditions: ['slow'], lastFor: ['host a'], instance: 'one', streams: [adminStream()] },
      {
        conditions: ['late'],
        lastFor: ['host a', 'host b'],
        instance: 'two',
        streams: [adminStream({ serverId: 'cp-2', connectedSince: minutesAgo(1) })],
      },
    );
    assert.deepEqual(merged.conditions, ['late', 'slow', 'duplicate']);
    assert.deepEqual(merged.lastFor, ['host a', 'host b']);
    assert.deepEqual(
      merged.streams.map((stream) => stream.serverId),
      ['cp-1', 'cp-2'],
    );
    assert.equal(merged.instance, 'two');
    assert.equal(worstOf(merged.conditions), 'late');
  });
});
