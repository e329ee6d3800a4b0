import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Fleet } from './selection-fleet.ts';

describe('selection over several strategies', () => {
  it('tries the strategies in their order', () => {
    const fleet = new Fleet(['destHost', 'defaultRoute', 'default']);
    const any = fleet.go('any');
    const route = fleet.go('route', 'default-route=true');
    const host = fleet.go('host', 'host=node-a');
    assert.deepEqual([...fleet.count(50, 'node-a:1').keys()], [host.name]);
    assert.deepEqual([...fleet.count(50, 'node-b:1').keys()], [route.name]);
    fleet.registry.remove(route);
    assert.deepEqual([...fleet.count(50, 'node-b:1').keys()].sort(), [any.name, host.name].sort());
  });

  it('takes a ready agent of a later strategy before a draining match of an earlier one', () => {
    const fleet = new Fleet(['destHost', 'default']);
    const host = fleet.go('host', 'host=node-a');
    const any = fleet.go('any');
    fleet.drain(host);
    const selection = fleet.selector.select('node-a:1');
    assert.equal(selection.stream, any);
    assert.equal(selection.stream !== undefined && selection.fallback, false);
  });

  it('keeps the order of the strategies among draining agents', () => {
    const fleet = new Fleet(['destHost', 'default']);
    const host = fleet.go('host', 'host=node-a');
    fleet.drain(host, fleet.go('any'));
    assert.deepEqual([...fleet.count(50, 'node-a:1').keys()], [host.name]);
  });

  it('with the fallback "strategy" takes the draining match of an earlier strategy', () => {
    const fleet = new Fleet(['destHost', 'default'], { drainingFallback: 'strategy' });
    const host = fleet.go('host', 'host=node-a');
    fleet.go('any');
    fleet.drain(host);
    const selection = fleet.selector.select('node-a:1');
    assert.equal(selection.stream, host);
    assert.equal(selection.stream !== undefined && selection.fallback, true);
  });

  it('takes suspects last, also with the fallback "strategy"', () => {
    for (const drainingFallback of ['last-resort', 'strategy'] as const) {
      const fleet = new Fleet(['destHost', 'default'], { drainingFallback });
      const host = fleet.go('host', 'host=node-a');
      const any = fleet.go('any');
      fleet.suspect(host);
      fleet.drain(any);
      assert.equal(fleet.dial('node-a:1'), any.name);
    }
  });

  it('tells of one pool without touching the others', () => {
    const fleet = new Fleet(['destHost', 'default']);
    const a = fleet.go('a', 'host=node-a&host=shared');
    fleet.go('b', 'host=shared');
    fleet.drain(a);
    assert.deepEqual(fleet.told, ['destHost/node-a out of ready']);
  });

  it('says why there is nobody', () => {
    const fleet = new Fleet(['destHost']);
    assert.equal(fleet.dial('node-a:1'), 'no-agents');
    const host = fleet.go('host', 'host=node-a');
    assert.equal(fleet.dial('node-b:1'), 'no-match');
    assert.equal(fleet.dial('node-a:1', [host]), 'excluded');
  });
});

describe('the retry of a dial', () => {
  it('never takes the stream that was tried, and spreads evenly over the others', () => {
    const fleet = new Fleet(['default']);
    const streams = ['a', 'b', 'c', 'd'].map((id) => fleet.go(id));
    const counts = new Map<string, number>();
    for (let i = 0; i < 3000; i++) {
      const name = fleet.dial('x:1', [streams[1]!]);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    assert.deepEqual([...counts.keys()].sort(), ['a#1', 'c#3', 'd#4']);
    for (const count of counts.values()) assert.ok(count > 900 && count < 1100, `${count} of 3000`);
  });

  it('may take another stream of the same agent, in the tier of that stream', () => {
    const fleet = new Fleet(['default']);
    const first = fleet.announced('a', 'run-1');
    const second = fleet.announced('a', 'run-2');
    fleet.drain(second);
    assert.equal(fleet.dial('x:1', [first]), second.name);
    const other = fleet.go('b');
    assert.equal(fleet.dial('x:1', [first]), other.name);
  });

  it('goes back to a draining match of an earlier strategy after a ready substitute failed', () => {
    const fleet = new Fleet(['destHost', 'default']);
    const host = fleet.go('host', 'host=node-a');
    fleet.go('any');
    fleet.drain(host);
    const failed = fleet.selector.select('node-a:1');
    assert.ok(failed.stream !== undefined);
    const retry = fleet.selector.selectAfterError('node-a:1', failed);
    assert.equal(retry.stream, host);
  });

  it('is not made after an error where no draining match was passed over', () => {
    const fleet = new Fleet(['destHost', 'default']);
    const any = fleet.go('any');
    const ready = fleet.selector.select('node-a:1');
    assert.ok(ready.stream !== undefined);
    assert.deepEqual(fleet.selector.selectAfterError('node-a:1', ready), {
      stream: undefined,
      reason: 'no-retry',
    });
    fleet.drain(any, fleet.go('host', 'host=node-a'));
    const draining = fleet.selector.select('node-a:1');
    assert.ok(draining.stream !== undefined);
    assert.equal(fleet.selector.selectAfterError('node-a:1', draining).stream, undefined);
  });
});
