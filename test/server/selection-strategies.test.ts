import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StrategyName } from '../../src/proxy/server/selection/strategies.ts';
import { Fleet } from './selection-fleet.ts';

// The same behaviour in each strategy alone: agents that all match one dial.
const cases: { strategy: StrategyName; identifiers: string; key: string }[] = [
  { strategy: 'default', identifiers: '', key: '' },
  { strategy: 'destHost', identifiers: 'host=node-a', key: 'node-a' },
  { strategy: 'defaultRoute', identifiers: 'default-route=true', key: '' },
];
const ADDRESS = 'node-a:10250';

for (const { strategy, identifiers, key } of cases) {
  describe(`selection with the strategy ${strategy}`, () => {
    it('prefers ready agents to draining ones', () => {
      const fleet = new Fleet([strategy]);
      const [a, b, c] = ['a', 'b', 'c'].map((id) => fleet.go(id, identifiers));
      fleet.drain(a!, c!);
      assert.deepEqual([...fleet.count(100, ADDRESS)], [[b!.name, 100]]);
    });

    it('prefers draining agents to suspect ones, and uses a suspect one when it is the last', () => {
      const fleet = new Fleet([strategy]);
      const a = fleet.go('a', identifiers);
      const b = fleet.go('b', identifiers);
      fleet.suspect(a);
      fleet.drain(b);
      assert.equal(fleet.dial(ADDRESS), b.name);
      fleet.registry.remove(b);
      assert.equal(fleet.dial(ADDRESS), a.name);
    });

    it('falls back to draining agents and reports each such dial', () => {
      const fleet = new Fleet([strategy]);
      fleet.drain(fleet.go('a', identifiers));
      const selection = fleet.selector.select(ADDRESS);
      assert.ok(selection.stream !== undefined);
      assert.deepEqual(
        [selection.agentId, selection.strategy, selection.pass, selection.fallback],
        ['a', strategy, 'draining', true],
      );
    });

    it('reports no fallback for a ready agent', () => {
      const fleet = new Fleet([strategy]);
      fleet.go('a', identifiers);
      const selection = fleet.selector.select(ADDRESS);
      assert.ok(selection.stream !== undefined);
      assert.deepEqual([selection.pass, selection.fallback], ['ready', false]);
    });

    it('spreads the fallback evenly over all draining agents', () => {
      const fleet = new Fleet([strategy]);
      const streams = Array.from({ length: 20 }, (_, i) => fleet.go(`agent-${i}`, identifiers));
      fleet.drain(...streams);
      assertEven(fleet.count(20_000, ADDRESS), 20, 20_000);
    });

    it('spreads dials evenly over the ready agents that are left', () => {
      const fleet = new Fleet([strategy]);
      const streams = Array.from({ length: 20 }, (_, i) => fleet.go(`agent-${i}`, identifiers));
      fleet.drain(...streams.filter((_, i) => i % 2 === 0));
      assertEven(fleet.count(20_000, ADDRESS), 10, 20_000);
    });

    it('tells once that the last ready agent is lost, and once that there is one again', () => {
      const fleet = new Fleet([strategy]);
      const a = fleet.go('a', identifiers);
      const b = fleet.go('b', identifiers);
      fleet.drain(a);
      assert.deepEqual(fleet.told, []);
      fleet.drain(b, b, a);
      assert.deepEqual(fleet.told, [`${strategy}/${key} out of ready`, 'all out of ready']);
      fleet.told.length = 0;
      fleet.count(10, ADDRESS);
      fleet.registry.clearDraining(b);
      fleet.registry.clearDraining(a);
      assert.deepEqual(fleet.told, [`${strategy}/${key} ready again`, 'all ready again']);
    });

    it('tells of a pool that lost its only agent and of its return, but not of its first one', () => {
      const fleet = new Fleet([strategy]);
      fleet.registry.remove(fleet.go('a', identifiers));
      fleet.go('a', identifiers);
      assert.deepEqual(fleet.told, [
        `${strategy}/${key} out of ready`,
        'all out of ready',
        `${strategy}/${key} ready again`,
        'all ready again',
      ]);
    });

    it('says nothing of an agent that is draining from its registration on', () => {
      const fleet = new Fleet([strategy]);
      const other = fleet.go('a', identifiers);
      fleet.drain(other);
      fleet.told.length = 0;
      fleet.registry.register({ ...other, agentId: 'b', name: 'b' }, { draining: true });
      assert.deepEqual(fleet.told, []);
      assert.deepEqual([...fleet.count(100, ADDRESS).keys()].sort(), [other.name, 'b'].sort());
    });

    it('forgets a backend that is gone, whatever its state was', () => {
      const fleet = new Fleet([strategy]);
      const streams = ['a', 'b', 'c', 'd'].map((id) => fleet.announced(id, id, identifiers));
      const waiting = fleet.ours('e', 'e', identifiers);
      fleet.drain(streams[1]!);
      fleet.suspect(streams[2]!);
      for (const stream of [...streams, waiting]) fleet.registry.remove(stream);
      assert.equal(fleet.dial(ADDRESS), 'no-agents');
      const [group] = fleet.registry.strategies;
      assert.equal(group!.backendCount, 0);
      assert.deepEqual(
        [...group!.pools()].map((pool) => pool.size),
        strategy === 'destHost' ? [] : [0],
      );
      assert.equal(fleet.registry.anyReady, false);
    });

    it('counts draining agents among the backends', () => {
      const fleet = new Fleet([strategy]);
      fleet.drain(fleet.go('a', identifiers));
      assert.equal(fleet.registry.strategies[0]!.backendCount, 1);
    });

    it('takes the less loaded of two random agents when asked to', () => {
      const load = new Map<string, number>();
      const fleet = new Fleet([strategy], {
        backendChoice: 'least-loaded',
        load: (stream) => load.get(stream.agentId) ?? 0,
      });
      for (const id of ['a', 'b', 'c']) fleet.go(id, identifiers);
      load.set('a', 5).set('b', 9).set('c', 7);
      // The most loaded of all is never the better of two different ones.
      const counts = fleet.count(300, ADDRESS);
      assert.deepEqual([...counts.keys()].sort(), ['a#1', 'c#3']);
      assert.ok(counts.get('a#1')! > counts.get('c#3')!);
    });

    it('says that an agent which has not announced itself yet is being waited for', () => {
      const fleet = new Fleet([strategy]);
      fleet.ours('a', 'run-1', identifiers);
      assert.equal(fleet.dial(ADDRESS), 'waiting');
    });
  });
}

/** Chi-square against an even spread; 2.5 times the degrees of freedom is far beyond chance, and the seed is fixed. */
function assertEven(counts: Map<string, number>, agents: number, dials: number): void {
  assert.equal(counts.size, agents);
  const expected = dials / agents;
  let chiSquare = 0;
  for (const count of counts.values()) chiSquare += (count - expected) ** 2 / expected;
  assert.ok(chiSquare < 2.5 * (agents - 1), `chi-square ${chiSquare} over ${agents} agents`);
}
