import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { watchEvents } from '../../src/proxy/kubernetes/watch-events.ts';

for (const line of ['null', '7', '"ADDED"', '{', '[]']) {
  test(`a line of a watch that is ${line} is told as no event`, async () => {
    const answer = Readable.from([Buffer.from(`${line}\n`)]) as IncomingMessage;
    const events = watchEvents(answer, { server: 'https://127.0.0.1:6443', silentMs: 60_000 });
    await assert.rejects(events.next(), { code: 'kube-bad-answer' });
  });
}
