import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Fleet } from './selection-fleet.ts';

it('a dry run lists who matched, who was left out and why', () => {
  const fleet = new Fleet(['destHost', 'default']);
  fleet.drain(fleet.go('drains', 'host=node-a'));
  fleet.suspect(fleet.go('late', 'host=node-a'));
  fleet.ours('silent', 'run-1', 'host=node-a');
  fleet.go('other');
  const { decision, choice, choices, looks, strategies } = fleet.explain('NODE-A:10250');
  assert.equal(decision.stream?.agentId, 'other');
  assert.deepEqual([choice, choices], ['only', 1]);
  assert.deepEqual(looks, [
    { pass: 'ready', strategy: 'destHost', found: 0 },
    { pass: 'ready', strategy: 'default', found: 1 },
  ]);
  assert.deepEqual(strategies[0], {
    name: 'destHost',
    key: 'node-a',
    matches: 3,
    candidates: [
      { agentId: 'drains', state: 'draining', streams: 1, excluded: 'draining' },
      { agentId: 'late', state: 'suspect', streams: 1, excluded: 'suspect' },
      { agentId: 'silent', state: 'waiting', streams: 1, excluded: 'no-status' },
    ],
  });
  assert.deepEqual(strategies[1]?.candidates[0], { agentId: 'other', state: 'ready', streams: 1 });
});

it('a dry run takes the decision that a dial takes', () => {
  const fleet = new Fleet(['destHost', 'default'], { drainingFallback: 'strategy' });
  fleet.drain(fleet.go('host', 'host=node-a'));
  fleet.go('any');
  const { decision, strategies } = fleet.explain('node-a:1');
  assert.deepEqual(decision, fleet.selector.select('node-a:1'));
  assert.deepEqual(strategies[1]?.candidates, [
    { agentId: 'any', state: 'ready', streams: 1, excluded: 'later-strategy' },
    { agentId: 'host', state: 'draining', streams: 1, excluded: 'later-strategy' },
  ]);
});

it('a dry run says among how many a random choice is made', () => {
  const fleet = new Fleet(['default']);
  for (const id of ['a', 'b', 'c']) fleet.go(id);
  const { choice, choices } = fleet.explain('x:1');
  assert.deepEqual([choice, choices], ['random', 3]);
});

it('a dry run with nobody there gives the reason', () => {
  const fleet = new Fleet(['destHost']);
  fleet.go('a', 'host=node-a');
  const { decision, choice, strategies } = fleet.explain('node-b:1');
  assert.deepEqual([decision, choice], [{ stream: undefined, reason: 'no-match' }, 'none']);
  assert.deepEqual(strategies, [{ name: 'destHost', key: 'node-b', matches: 0, candidates: [] }]);
});

it('a dry run lists no more candidates than it was allowed to', () => {
  const fleet = new Fleet(['default']);
  for (let i = 0; i < 30; i++) fleet.go(`agent-${i}`);
  const [listed] = fleet.explain('x:1', 10).strategies;
  assert.deepEqual([listed?.matches, listed?.candidates.length], [30, 10]);
});
