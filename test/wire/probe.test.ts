import assert from 'node:assert/strict';
import { it } from 'node:test';
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
