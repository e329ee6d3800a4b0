import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Fault } from '../../src/proxy/ops/fault.ts';
import { silentLog } from '../../src/proxy/ops/log.ts';
import type { Backend } from '../../src/proxy/server/backend.ts';
import { DrainControl } from '../../src/proxy/server/drain/drain-control.ts';
import type { StrategyName } from '../../src/proxy/server/selection/strategy-name.ts';
import { StreamRegistry } from '../../src/proxy/server/selection/stream-registry.ts';
import { NO_IDENTIFIERS } from '../../src/proxy/wire/identifiers.ts';

const alice = { actor: 'alice', actorClaimed: false };

/** Go agents by ID, each with the hosts that it names. */
function fleet(
  strategies: StrategyName[],
  agents: Record<string, string[]>,
  drainingFallback: 'last-resort' | 'strategy' = 'last-resort',
): DrainControl {
  const registry = new StreamRegistry<Backend>({ strategies, now: () => 0 });
  const control = new DrainControl({ registry, drainingFallback, log: silentLog });
  for (const [agentId, host] of Object.entries(agents)) {
    const identifiers = { ...NO_IDENTIFIERS, host };
    const backend = {
      agentId,
      identifiers,
      instance: undefined,
      announces: false,
      ours: false,
      features: new Set(),
      tunnels: new Map(),
    };
    registry.register(backend as unknown as Backend, {
      draining: control.connecting(backend as unknown as Backend),
    });
  }
  return control;
}

function refused(work: () => unknown, text: RegExp): void {
  assert.throws(work, (error: unknown) => {
    assert.ok(error instanceof Fault);
    assert.equal(error.code, 'drain-refused');
    assert.match(error.line, text);
    return true;
  });
}

describe('the guard of drain orders', () => {
  it('refuses the last ready agent, and says what overrides it', () => {
    const control = fleet(['default'], { a: [], b: [] });
    control.drain({ agentIds: ['a'], ...alice });
    refused(
      () => control.drain({ agentIds: ['b'], ...alice }),
      /draining agent b would leave draining agents alone for any destination; .*--force/,
    );
    assert.equal(control.orderOf('b'), undefined);
  });

  it('refuses the whole of a request that together takes the last two', () => {
    const control = fleet(['default'], { a: [], b: [] });
    refused(() => control.drain({ agentIds: ['a', 'b'], ...alice }), /these 2 agents together/);
    assert.deepEqual(control.orders(), []);
  });

  it('refuses the only agent that names a host where no strategy takes any destination', () => {
    const control = fleet(['destHost'], { a: ['db-x'], b: ['db-y'] });
    refused(() => control.drain({ agentIds: ['a'], ...alice }), /alone for host db-x/);
  });

  it('allows it where a later strategy has a ready agent, with a note and who takes over', () => {
    const control = fleet(['destHost', 'default'], { a: ['db-x'], b: [], c: [] });
    const [outcome] = control.drain({ agentIds: ['a'], ...alice });
    assert.deepEqual(outcome?.takeover, [
      'host db-x -> default: 2 ready',
      'any destination -> default: 2 ready',
    ]);
    assert.deepEqual(
      outcome?.notes.filter((note) => note.includes('db-x')),
      ['no other ready agent names host db-x; default serves it'],
    );
  });

  it('says that dials stay on a draining agent under --draining-fallback=strategy', () => {
    const control = fleet(['destHost', 'default'], { a: ['db-x'], b: [] }, 'strategy');
    const [outcome] = control.drain({ agentIds: ['a'], ...alice });
    assert.equal(outcome?.takeover[0], 'host db-x -> draining agents alone');
    assert.match(outcome?.notes.join() ?? '', /--draining-fallback=strategy keeps its dials/);
  });

  it('names at most ten destinations and how many more there are', () => {
    const hosts = Array.from({ length: 13 }, (_, i) => `db-${String(i).padStart(2, '0')}`);
    const control = fleet(['destHost'], { a: hosts });
    refused(() => control.drain({ agentIds: ['a'], ...alice }), /host db-00, .*host db-09 and 3 more/);
    assert.equal(control.lastFor('a').length, 10);
  });

  it('gives way to force, which is noted', () => {
    const control = fleet(['default'], { a: [] });
    const [outcome] = control.drain({ agentIds: ['a'], force: true, ...alice });
    assert.ok(outcome?.notes.includes('forced: draining agents alone are left for any destination'));
    assert.equal(outcome?.takeover[0], 'any destination -> draining agents alone');
    assert.equal(control.orderOf('a')?.actor, 'alice');
  });

  it('does not blame a request for what is lost already', () => {
    const control = fleet(['default'], { a: [], b: [] });
    control.drain({ agentIds: ['a', 'b'], force: true, ...alice });
    assert.equal(control.drain({ agentIds: ['a'], reason: 'again', ...alice })[0]?.change, 'updated');
  });

  it('takes agents for draining that it is told to assume so', () => {
    const control = fleet(['default'], { a: [], b: [] });
    refused(() => control.drain({ agentIds: ['a'], assumeDrained: ['b'], ...alice }), /any destination/);
    assert.deepEqual(control.lastFor('a'), []);
  });

  it('lists what an agent is the last for, also when it drains', () => {
    const control = fleet(['destHost', 'default'], { a: ['db-x'] });
    assert.deepEqual(control.lastFor('a'), ['host db-x', 'any destination']);
    control.drain({ agentIds: ['a'], force: true, ...alice });
    assert.deepEqual(control.lastFor('a'), ['host db-x', 'any destination']);
  });
});
