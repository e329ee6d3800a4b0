import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { pluginProblem, startPlugin } from '../../src/proxy/kubernetes/credential-plugin.ts';
import { Exchange } from '../../src/proxy/kubernetes/exchange.ts';

test('a credential plug-in that takes too long is killed', async () => {
  const hang = ['-e', 'setInterval(() => {}, 1000)'];
  const child = startPlugin(process.execPath, hang, {}, 50);
  child.ref();
  assert.deepEqual(await once(child, 'close'), [null, 'SIGKILL']);
});

test('what a credential plug-in printed is in no message, and silence has words', () => {
  let error: unknown;
  try {
    JSON.parse('opaque-secret');
  } catch (caught) {
    error = caught;
  }
  assert.doesNotMatch(pluginProblem(error), /opaque/);
  assert.match(pluginProblem(new Error('')), /without a word/);
});

test('a request whose credentials never come ends with its signal', async () => {
  const stop = new AbortController();
  const credentials = () => new Promise<never>(() => {});
  const exchange = new Exchange({ server: 'https://127.0.0.1:1', credentials });
  const message = { method: 'GET', path: '/', body: undefined, repeatable: true, secret: '' } as const;
  const sent = exchange.send(message, stop.signal);
  stop.abort(new Error('late'));
  await assert.rejects(sent, /late/);
});
