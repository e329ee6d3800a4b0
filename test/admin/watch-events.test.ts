import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AdminEvent } from '../../src/proxy/admin/model/event.ts';
import { watchEvents } from '../../src/proxy/admin/service/watch-events.ts';
import { EventLog } from '../../src/proxy/server/event-log.ts';

const origin = { serverId: 'server-1', epoch: 'e' };

it('a reader that is too slow is told with the next event how many it missed', async () => {
  const log = new EventLog({ most: 3 });
  const add = (): void => log.add('server-started', { message: 'x' });
  const stop = new AbortController();
  add();
  const request = { since: new Date(0), follow: true };
  const events = watchEvents(log, request, origin, stop.signal);
  const next = async (): Promise<[number, number]> => {
    const { number, missed } = (await events.next()).value as AdminEvent;
    return [number, missed];
  };
  assert.deepEqual(await next(), [1, 0]);
  for (let i = 0; i < 5; i++) add();
  assert.deepEqual(await next(), [4, 2]);
  assert.deepEqual(await next(), [5, 0]);
  stop.abort();
  await events.return(undefined);
});

it('one that wants one agent alone is told how many of all it missed', async () => {
  const log = new EventLog({ most: 2 });
  for (const agent of ['a', 'b', 'a']) log.add('agent-leaving', { message: 'x', agent });
  const request = { since: new Date(0), follow: false, agent: 'a' };
  const events = watchEvents(log, request, origin, new AbortController().signal);
  log.add('agent-leaving', { message: 'x', agent: 'a' });
  const seen: [number, number][] = [];
  for await (const { number, missed } of events) seen.push([number, missed]);
  assert.deepEqual(seen, [
    [3, 0],
    [4, 0],
  ]);
});

it('none is left out for a clock that went back', async () => {
  let nowMs = 100;
  const log = new EventLog({ now: () => nowMs });
  log.add('server-started', { message: 'x' });
  nowMs = 50;
  log.add('server-started', { message: 'x' });
  const numbers: number[] = [];
  const request = { since: new Date(60), follow: false };
  for await (const { number } of watchEvents(log, request, origin, new AbortController().signal))
    numbers.push(number);
  assert.deepEqual(numbers, [1, 2]);
});
