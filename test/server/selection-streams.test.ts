import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Fleet } from './selection-fleet.ts';

describe('the streams of one agent ID', () => {
  it('count as one agent: an ID with many streams gets no more dials than one with a single stream', () => {
    const fleet = new Fleet(['default']);
    for (let run = 0; run < 9; run++) fleet.announced('twin', `run-${run}`);
    fleet.go('single');
    const counts = fleet.count(2000);
    assert.deepEqual([...counts.keys()].sort(), ['single#10', 'twin#1']);
    for (const count of counts.values()) assert.ok(count > 900 && count < 1100, `${count} of 2000`);
  });

  it('give the dial to the oldest that is ready', () => {
    const fleet = new Fleet(['default']);
    const [first, second, third] = [1, 2, 3].map((run) => fleet.announced('a', `run-${run}`));
    assert.equal(fleet.dial(), first!.name);
    fleet.drain(first!);
    assert.equal(fleet.dial(), second!.name);
    fleet.suspect(second!);
    assert.equal(fleet.dial(), third!.name);
  });

  it('give the dial to the oldest draining one, then to the oldest suspect one', () => {
    const fleet = new Fleet(['default']);
    const [first, second, third] = [1, 2, 3].map((run) => fleet.announced('a', `run-${run}`));
    fleet.suspect(first!);
    fleet.drain(second!, third!);
    assert.equal(fleet.dial(), second!.name);
    fleet.suspect(second!, third!);
    assert.equal(fleet.dial(), first!.name);
  });

  it('are listed oldest first', () => {
    const fleet = new Fleet(['default']);
    const streams = [fleet.go('a'), fleet.announced('a', 'x'), fleet.go('a')];
    fleet.go('b');
    assert.deepEqual(fleet.registry.streamsOf('a'), streams);
    fleet.registry.remove(streams[0]!);
    assert.deepEqual(fleet.registry.streamsOf('a'), streams.slice(1));
  });

  it('cannot be registered twice', () => {
    const fleet = new Fleet(['default']);
    const stream = fleet.go('a');
    assert.throws(() => fleet.registry.register(stream), /agent a is registered twice/);
  });

  it('serve what each of them said it serves', () => {
    const fleet = new Fleet(['destHost']);
    const before = fleet.announced('a', 'run-1', 'host=old&host=both');
    const after = fleet.announced('a', 'run-2', 'host=new&host=both');
    assert.equal(fleet.dial('new:1'), after.name);
    assert.equal(fleet.dial('both:1'), before.name);
    fleet.registry.remove(before);
    assert.equal(fleet.dial('old:1'), 'no-match');
    assert.equal(fleet.dial('both:1'), after.name);
  });
});

describe('a younger stream of one of our agents', () => {
  it('is not chosen before its first STATUS', () => {
    const fleet = new Fleet(['default']);
    const first = fleet.announced('a', 'run-1');
    const second = fleet.ours('a', 'run-2');
    fleet.drain(first);
    assert.equal(fleet.dial(), first.name);
    fleet.registry.markChoosable(second);
    assert.equal(fleet.dial(), second.name);
  });

  it('inherits the drain mark of the same instance', () => {
    const fleet = new Fleet(['default']);
    fleet.drain(fleet.announced('a', 'run-1'));
    fleet.announced('a', 'run-1');
    const ready = fleet.go('b');
    assert.deepEqual([...fleet.count(50).keys()], [ready.name]);
  });

  it('keeps the inherited mark when the older stream is gone', () => {
    const fleet = new Fleet(['default']);
    const older = fleet.announced('a', 'run-1');
    fleet.drain(older);
    const younger = fleet.announced('a', 'run-1');
    fleet.registry.remove(older);
    const selection = fleet.selector.select('x:1');
    assert.equal(selection.stream, younger);
    assert.equal(selection.stream !== undefined && selection.fallback, true);
  });

  it('is marked with the older one of its instance when that drains later', () => {
    const fleet = new Fleet(['default']);
    const older = fleet.announced('a', 'run-1');
    fleet.announced('a', 'run-1');
    fleet.drain(older);
    assert.deepEqual(fleet.told, ['default/ out of ready', 'all out of ready']);
  });

  it('of another instance inherits nothing and is chosen at once', () => {
    const fleet = new Fleet(['default']);
    fleet.drain(fleet.announced('a', 'run-1'));
    const younger = fleet.announced('a', 'run-2');
    const selection = fleet.selector.select('x:1');
    assert.equal(selection.stream, younger);
    assert.equal(selection.stream !== undefined && selection.fallback, false);
  });
});

describe('a younger stream of a Go agent', () => {
  it('alone in its pool is chosen at once', () => {
    const fleet = new Fleet(['default']);
    assert.equal(fleet.go('a').name, fleet.dial());
    assert.equal(fleet.registry.nextChangeAtMs, undefined);
  });

  it('is not chosen before it lived 5 s beside an older one, even when that drains', () => {
    const fleet = new Fleet(['default']);
    fleet.nowMs = 1000;
    const older = fleet.go('a');
    fleet.drain(older);
    fleet.nowMs = 2000;
    const younger = fleet.go('a');
    assert.equal(fleet.registry.nextChangeAtMs, 7000);
    fleet.nowMs = 6999;
    assert.equal(fleet.dial(), older.name);
    fleet.nowMs = 7000;
    assert.equal(fleet.dial(), younger.name);
    assert.equal(fleet.registry.nextChangeAtMs, undefined);
  });

  it('turns choosable through advance() too, which tells of the transition', () => {
    const fleet = new Fleet(['default']);
    fleet.drain(fleet.go('a'));
    fleet.go('a');
    fleet.told.length = 0;
    fleet.registry.advance();
    assert.deepEqual(fleet.told, []);
    fleet.nowMs = 5000;
    fleet.registry.advance();
    assert.deepEqual(fleet.told, ['default/ ready again', 'all ready again']);
  });

  it('is chosen as soon as the older ones are gone', () => {
    const fleet = new Fleet(['default']);
    const [first, second, third] = [fleet.go('a'), fleet.go('a'), fleet.go('a')];
    fleet.drain(first, second);
    fleet.registry.remove(first);
    assert.equal(fleet.dial(), second.name);
    fleet.registry.remove(second);
    assert.equal(fleet.dial(), third.name);
  });

  it('is chosen as soon as the older ones are suspect, and waits again when they answer', () => {
    const fleet = new Fleet(['default']);
    const older = fleet.go('a');
    const younger = fleet.go('a');
    fleet.suspect(older);
    assert.equal(fleet.dial(), younger.name);
    fleet.registry.markSuspect(older, false);
    fleet.drain(older);
    assert.equal(fleet.dial(), older.name);
  });

  it('that ends before its wait is over leaves no time to wait for', () => {
    const fleet = new Fleet(['default']);
    fleet.go('a');
    fleet.registry.remove(fleet.go('a'));
    assert.equal(fleet.registry.nextChangeAtMs, undefined);
  });

  it('does not wait beside a stream of our agent that may not be chosen itself', () => {
    const fleet = new Fleet(['default']);
    fleet.ours('a', 'run-1');
    assert.equal(fleet.go('a').name, fleet.dial());
  });
});
