import assert from 'node:assert/strict';
import { afterEach, it, mock } from 'node:test';
import { Sampler } from '../../src/proxy/admin/service/sampler.ts';
import type { ProxyServer } from '../../src/proxy/server/proxy-server.ts';

/** A server with one tunnel of one agent, as far as rates go. */
function server() {
  const tunnel = {
    bytesToNode: 0,
    bytesFromNode: 0,
    startedAtMs: 0,
    pausedSinceMs: undefined,
    sample: { bytes: 0, lastByteMs: 0, bytesPerSecond: 0 },
  };
  const backend = {
    agentId: 'a',
    dialsGiven: 0,
    endedBytesToNode: 0,
    endedBytesFromNode: 0,
    tunnels: new Map([[1, tunnel]]),
  };
  const proxy = {
    counters: { dialsStarted: 0 },
    backends: { all: () => [backend] },
    changes: { touch: () => {} },
  } as unknown as ProxyServer;
  return { proxy, tunnel };
}

let nowMs = 0;
let sampler: Sampler | undefined;
function start(proxy: ProxyServer): Sampler {
  nowMs = 0;
  mock.timers.enable({ apis: ['setTimeout'] });
  mock.method(performance, 'now', () => nowMs);
  sampler = new Sampler(proxy);
  return sampler;
}
function pass(ms: number): void {
  for (let i = 0; i < ms; i += 100) {
    nowMs += 100;
    mock.timers.tick(100);
  }
}
afterEach(() => {
  sampler?.close();
  mock.timers.reset();
  mock.restoreAll();
});

it('tunnels are looked at every ten seconds while nobody watches or asks', () => {
  const one = start(server().proxy);
  pass(60_000);
  assert.equal(one.samples, 6);
});

it('and once a second while somebody watches', () => {
  const one = start(server().proxy);
  const leave = one.watch();
  pass(5_000);
  assert.equal(one.samples, 5);
  leave();
  leave();
  pass(21_000);
  assert.equal(one.samples, 8, 'the one that was due, and two more');
});

it('who asks once is told what passed since the last look, and then once a second for a while', () => {
  const { proxy, tunnel } = server();
  const one = start(proxy);
  pass(10_000);
  tunnel.bytesToNode = 8_000;
  pass(4_000);
  one.ask();
  assert.equal(one.samples, 2);
  assert.deepEqual(one.rates('a'), {
    dialsPerSecond: 0,
    bytesToNodePerSecond: 2_000,
    bytesFromNodePerSecond: 0,
  });
  assert.deepEqual(tunnel.sample, { bytes: 8_000, lastByteMs: 14_000, bytesPerSecond: 2_000 });
  one.ask();
  assert.equal(one.samples, 2, 'it is fresh');
  pass(2_000);
  assert.equal(one.samples, 4);
  assert.equal(one.rates('a').bytesToNodePerSecond, 0);
});

it('the rate of a tunnel that is younger than the last look is over its own life', () => {
  const { proxy, tunnel } = server();
  const one = start(proxy);
  pass(10_000);
  tunnel.startedAtMs = 12_000;
  pass(4_000);
  tunnel.bytesFromNode = 4_000;
  one.ask();
  assert.equal(tunnel.sample.bytesPerSecond, 2_000);
});
