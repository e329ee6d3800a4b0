import assert from 'node:assert/strict';
import { it } from 'node:test';
import { AgentSightings, defaultSightingBounds } from '../../src/proxy/server/drain/agent-sightings.ts';
import { NO_IDENTIFIERS } from '../../src/proxy/wire/identifiers.ts';
import { ManualClock } from '../peers/manual-clock.ts';

const stream = (agentId: string, instance = 'i') => ({
  agentId,
  ours: true,
  instance,
  version: '1',
  identifiers: NO_IDENTIFIERS,
  remote: '10.0.0.1:1',
});

it('an agent that is gone is remembered for an hour, with its last instance', () => {
  const clock = new ManualClock();
  const sightings = new AgentSightings(clock);
  sightings.connected(stream('a', 'one'));
  sightings.connected(stream('a', 'two'));
  sightings.disconnected('a');
  assert.equal(sightings.of('a')?.goneSinceUnixMs, undefined);
  sightings.disconnected('a');
  assert.deepEqual(
    [sightings.of('a')?.goneSinceUnixMs, sightings.of('a')?.instance],
    [clock.wallMs(), 'two'],
  );
  clock.advance(defaultSightingBounds.keepMs - 1);
  assert.deepEqual(sightings.expire(), []);
  clock.advance(1);
  assert.deepEqual(sightings.expire(), ['a']);
  assert.equal(sightings.has('a'), false);
});

it('a stream that its agent closes again, since it has another here, is no connect', () => {
  const sightings = new AgentSightings(new ManualClock());
  sightings.connected(stream('a'));
  sightings.joined('a');
  sightings.connected(stream('a'));
  sightings.disconnected('a');
  assert.equal(sightings.of('a')?.connects, 1);
});

it('connects are counted for ten minutes', () => {
  const clock = new ManualClock();
  const sightings = new AgentSightings(clock);
  for (let i = 0; i < 3; i++) {
    sightings.connected(stream('a'));
    sightings.joined('a');
    sightings.disconnected('a');
    clock.advance(240_000);
  }
  assert.equal(sightings.of('a')?.connects, 2);
});

it('of agents that are gone the oldest are forgotten beyond the bound, and of those that are here none', () => {
  const sightings = new AgentSightings(new ManualClock(), { ...defaultSightingBounds, mostGone: 2 });
  for (const agentId of ['a', 'b', 'c', 'here']) sightings.connected(stream(agentId));
  for (const agentId of ['b', 'a', 'c']) sightings.disconnected(agentId);
  assert.deepEqual(
    ['a', 'b', 'c', 'here'].map((agentId) => sightings.has(agentId)),
    [true, false, true, true],
  );
  assert.deepEqual(
    [...sightings.gone()].map(({ agentId }) => agentId),
    ['a', 'c'],
  );
});
