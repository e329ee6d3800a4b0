import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { type Packet, PacketType } from '../../src/proxy/wire/packet.ts';
import { defaultProbeTimes, Probe, type ProbeTarget } from '../../src/proxy/wire/probe.ts';

it('asking a silent stream again and again does not postpone the verdict', async () => {
  let asked = 0;
  const silent: ProbeTarget = {
    heard: false,
    onHeard: undefined,
    ask: () => {
      asked++;
      return true;
    },
    isAnswer: () => false,
  };
  let again: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    const times = { ...defaultProbeTimes, urgentSuspectMs: 50 };
    const probe = new Probe(silent, times, {
      onSuspect: () => {
        probe.stop();
        resolve();
      },
      onDead: () => {},
    });
    probe.askUrgently();
    again = setInterval(() => probe.askUrgently(), 5);
  });
  clearInterval(again);
  assert.equal(asked, 1);
});

it('a stream that somebody waits for is asked sooner, once, and not when it was heard', (t) => {
  const pass = manualTime(t);
  const stream = unanswering();
  const probe = new Probe(stream, { ...defaultProbeTimes, intervalMs: 100_000, awaitedMs: 1_000 }, NO_EVENTS);
  for (let dials = 0; dials < 20; dials++) {
    probe.awaited();
    stream.heard = true;
    pass(500);
  }
  assert.equal(stream.asked, 0);
  // Nobody waits any more.
  stream.heard = true;
  pass(1_000);
  pass(3_000);
  assert.equal(stream.asked, 0);
  probe.awaited();
  stream.heard = true;
  for (let ms = 0; ms < 900; ms += 100) {
    pass(100);
    // Behind the last sign of life, in the same look.
    probe.awaited();
  }
  for (let ms = 0; ms < 1_000; ms += 100) pass(100);
  assert.equal(stream.asked, 0);
  pass(100);
  assert.equal(stream.asked, 1);
  probe.stop();
});

it('a stream that is never silent is asked until its round trip is known, and its answer may come behind other packets', (t) => {
  const pass = manualTime(t);
  let asked = 0;
  const other = { type: PacketType.DATA } as Packet;
  const pong = { type: PacketType.PONG } as Packet;
  const busy: ProbeTarget = {
    heard: false,
    onHeard: undefined,
    ask: () => {
      asked++;
      return true;
    },
    isAnswer: (packet) => packet === pong,
  };
  const suspected: boolean[] = [];
  const events = { onSuspect: (suspect: boolean) => suspected.push(suspect), onDead: () => {} };
  const probe = new Probe(busy, { ...defaultProbeTimes, intervalMs: 1_000, suspectMs: 100 }, events);
  const hear = (packet: Packet): void => {
    busy.heard = true;
    busy.onHeard?.(packet);
  };
  hear(other);
  pass(1_000);
  assert.equal(asked, 1);
  hear(other);
  pass(500);
  assert.equal(probe.roundTripMs, undefined);
  hear(pong);
  assert.equal(typeof probe.roundTripMs, 'number');
  hear(other);
  pass(500);
  hear(other);
  pass(1_000);
  assert.deepEqual([asked, suspected], [1, []]);
  probe.stop();
});

it('the round trip of a stream that dials wait for again and again is asked for, too', (t) => {
  const pass = manualTime(t);
  const stream = unanswering();
  const probe = new Probe(stream, { ...defaultProbeTimes, intervalMs: 1_000, awaitedMs: 100 }, NO_EVENTS);
  for (let dials = 0; dials < 10; dials++) {
    assert.equal(stream.asked, 0);
    probe.awaited();
    stream.heard = true;
    pass(100);
  }
  assert.equal(stream.asked, 1);
  probe.stop();
});

it('the round trip is asked for in time also when dials come too far apart to be looked for without a pause', (t) => {
  const pass = manualTime(t);
  const stream = unanswering();
  const probe = new Probe(stream, { ...defaultProbeTimes, intervalMs: 1_000, awaitedMs: 100 }, NO_EVENTS);
  // Each finds a long look under way, which it ends.
  for (let passedMs = 0; passedMs < 1_000; passedMs += 250) {
    assert.equal(stream.asked, 0);
    probe.awaited();
    for (let ms = 0; ms < 250; ms += 50) {
      stream.heard = true;
      pass(50);
    }
  }
  assert.equal(stream.asked, 1);
  probe.stop();
});

const NO_EVENTS = { onSuspect: () => {}, onDead: () => {} };

/** A stream that is asked, and never answers. */
function unanswering(): ProbeTarget & { asked: number } {
  const stream = {
    asked: 0,
    heard: false,
    onHeard: undefined,
    ask: () => {
      stream.asked++;
      return true;
    },
    isAnswer: () => false,
  };
  return stream;
}

/** Timers and performance.now() go on only by what is returned. */
function manualTime(t: TestContext): (ms: number) => void {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  return (ms) => {
    nowMs += ms;
    t.mock.timers.tick(ms);
  };
}
