import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EventLog } from '../../src/proxy/server/event-log.ts';

describe('the events that agents cause', () => {
  const connected = (log: EventLog, agent: string): void =>
    log.add('agent-connected', { agent, message: `${agent} connected` });
  const keptOf = (log: EventLog, pattern: RegExp): number =>
    Array.from({ length: log.last }, (_, i) => log.at(i + 1)).filter(
      (event) => event !== undefined && pattern.test(event.message),
    ).length;

  test('are kept sixty times a minute of one agent, and the next one says how many were left out', () => {
    let nowMs = 0;
    const log = new EventLog({ monoMs: () => nowMs });
    for (let i = 0; i < 100; i++) connected(log, 'a');
    assert.equal(log.last, 60);
    nowMs = 60_000;
    connected(log, 'a');
    assert.equal(log.at(61)?.message, 'a connected (after 40 events that are left out)');
  });

  test('are counted for so many agents at most, and together for the rest', () => {
    const log = new EventLog({ most: 50_000, monoMs: () => 0 });
    for (let i = 0; i < 20_000; i++) connected(log, `first-${i}`);
    for (let i = 0; i < 100; i++) connected(log, `late-${i}`);
    connected(log, 'first-0');
    assert.equal(keptOf(log, /^late-/), 60);
    assert.equal(keptOf(log, /^first-0 /), 2);
  });

  test('are among the last 10,000 of all kinds; older ones are forgotten', () => {
    const log = new EventLog({ monoMs: () => 0 });
    for (let i = 0; i < 10_001; i++) connected(log, `agent-${i}`);
    assert.deepEqual([log.first, log.last, log.at(1)], [2, 10_001, undefined]);
  });

  test('do not hold back what an operator did', () => {
    const log = new EventLog({ monoMs: () => 0 });
    for (let i = 0; i < 100; i++)
      log.add('order-ended', { agent: 'a', actor: 'alice', message: 'a is undrained' });
    assert.equal(log.last, 100);
  });
});
