import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { encodeDataFrame } from '../../src/proxy/wire/encode.ts';
import { blankStatus, type Packet, PacketType, type Status } from '../../src/proxy/wire/packet.ts';
import { dialFailure, dialRequest, dialResponse, drain, pong, status } from '../../src/proxy/wire/packets.ts';
import { defaultProbeTimes } from '../../src/proxy/wire/probe.ts';
import type { ScriptedStream } from '../peers/scripted-stream.ts';
import { TestServer, type TestServerOptions } from '../peers/test-server.ts';

let running: TestServer | undefined;

async function start(options: TestServerOptions = {}): Promise<TestServer> {
  running = await TestServer.start(options);
  return running;
}

afterEach(async () => {
  await running?.close();
  running = undefined;
});

/** Makes a scripted agent answer every dial, and counts them. */
function answering(agent: ScriptedStream, error = ''): { dials: number } {
  const seen = { dials: 0 };
  let last = 0;
  agent.onPacket = (packet: Packet) => {
    if (packet.type === PacketType.PING) agent.send(pong(packet.amount));
    if (packet.type !== PacketType.DIAL_REQ) return;
    seen.dials++;
    agent.send(error === '' ? dialResponse(packet.dialId, ++last) : dialFailure(packet.dialId, error));
  };
  return seen;
}

let lastDialId = 0n;

async function dial(server: TestServer, address = '10.0.0.1:80'): Promise<Packet> {
  const frontend = server.frontend();
  frontend.send(dialRequest(++lastDialId, address));
  const answer = await frontend.next(PacketType.DIAL_RSP);
  frontend.stream.abort(1, 'done');
  return answer;
}

async function dials(server: TestServer, count: number, address?: string): Promise<void> {
  for (let i = 0; i < count; i++) assert.equal((await dial(server, address)).error, '');
}

const leaving: Status = { ...blankStatus(), leaving: true };

describe('draining', () => {
  for (const kind of ['go', 'ts'] as const) {
    it(`by a DRAIN packet of a ${kind} agent sends new dials elsewhere and leaves its tunnels alone`, async () => {
      const server = await start();
      const [a, b] = [await server.agent('a', { kind }), await server.agent('b', { kind })];
      const counts = [answering(a), answering(b)] as const;
      a.send(drain());
      await server.logged('Agent drains');
      await dials(server, 20);
      assert.deepEqual([counts[0].dials, counts[1].dials], [0, 20]);
    });
  }

  it('by STATUS leaving sends new dials elsewhere', async () => {
    const server = await start();
    const [a, b] = [await server.agent('a'), await server.agent('b')];
    const counts = [answering(a), answering(b)] as const;
    b.send(status(leaving));
    await server.logged('Agent drains');
    await dials(server, 20);
    assert.deepEqual([counts[0].dials, counts[1].dials], [20, 0]);
  });

  it('leaves a live tunnel of the agent untouched', async () => {
    const server = await start();
    const agent = await server.agent('a');
    const frontend = server.frontend();
    frontend.send(dialRequest(1n, '10.0.0.1:80'));
    await agent.next(PacketType.DIAL_REQ);
    agent.send(dialResponse(1n, 1));
    await frontend.next(PacketType.DIAL_RSP);
    agent.send(drain());
    await server.logged('Agent drains');
    agent.stream.sendFrame(encodeDataFrame(1, Buffer.from('still here')));
    assert.equal((await frontend.next(PacketType.DATA)).data.toString(), 'still here');
  });

  it('of all agents still serves dials, over all of them, and says so once and per dial', async () => {
    const server = await start();
    const agents = [await server.agent('a'), await server.agent('b'), await server.agent('c')];
    const counts = agents.map((agent) => answering(agent));
    for (const agent of agents) agent.send(drain());
    await server.logged('No agent is ready');
    await dials(server, 60);
    for (const { dials: count } of counts)
      assert.ok(count >= 5, `dials per agent: ${counts.map((c) => c.dials)}`);
    const out = server.lines.all.filter((line) => line.includes('A pool is out of ready agents'));
    assert.equal(out.length, 1);
    const fallbacks = server.lines.all.filter((line) =>
      line.includes('Dial goes to an agent that is not ready'),
    );
    assert.equal(fallbacks.length, 60);
    assert.match(server.server.readiness.text, /only draining agents/);
    assert.equal(server.server.readiness.ready, true);
  });

  it('ends for the pool when a ready agent comes, which is said once', async () => {
    const server = await start();
    const a = await server.agent('a');
    answering(a);
    a.send(drain());
    await server.logged('A pool is out of ready agents');
    const b = answering(await server.agent('b'));
    await server.logged('A pool has a ready agent again');
    await dials(server, 10);
    assert.equal(b.dials, 10);
  });

  it('is not lost by a second stream of the same process', async () => {
    const server = await start();
    const first = await server.agent('a', { instance: 'run-1' });
    first.send(drain());
    await server.logged('Agent drains');
    const second = await server.agent('a', { instance: 'run-1' });
    const counts = [answering(first), answering(second), answering(await server.agent('b'))] as const;
    await dials(server, 20);
    assert.deepEqual(
      counts.map((c) => c.dials),
      [0, 0, 20],
    );
  });

  it('ends with the process: a new one of the same ID is ready at once', async () => {
    const server = await start();
    const old = await server.agent('a', { instance: 'run-1' });
    old.send(drain());
    await server.logged('Agent drains');
    const counts = [answering(old), answering(await server.agent('a', { instance: 'run-2' }))] as const;
    await dials(server, 10);
    assert.deepEqual([counts[0].dials, counts[1].dials], [0, 10]);
  });

  it('said in the first STATUS keeps a stream from ever being ready', async () => {
    const server = await start();
    const ready = answering(await server.agent('b'));
    const left = answering(await server.agent('a', { leaving: true }));
    await server.logged('Agent drains');
    await dials(server, 20);
    assert.deepEqual([left.dials, ready.dials], [0, 20]);
  });

  it('prefers a ready agent of a later strategy, and the retry goes to the draining match when that one fails', async () => {
    const server = await start({ strategies: ['destHost', 'default'] });
    const match = await server.agent('match', { identifiers: 'ipv4=10.0.0.9' });
    const other = await server.agent('other');
    const counts = [answering(match), answering(other, 'dial tcp: no route to host')] as const;
    match.send(drain());
    await server.logged('Agent drains');
    assert.equal((await dial(server, '10.0.0.9:80')).error, '');
    assert.deepEqual([counts[0].dials, counts[1].dials], [1, 1]);
  });

  it('with --draining-fallback=strategy stays within the earlier strategy, as upstream does', async () => {
    const server = await start({ strategies: ['destHost', 'default'], drainingFallback: 'strategy' });
    const match = await server.agent('match', { identifiers: 'ipv4=10.0.0.9' });
    const counts = [answering(match), answering(await server.agent('other'))] as const;
    match.send(drain());
    await server.logged('Agent drains');
    await dials(server, 5, '10.0.0.9:80');
    assert.deepEqual([counts[0].dials, counts[1].dials], [5, 0]);
  });

  it('tells a leaving agent of ours how many could replace it, and when that changes', async () => {
    const server = await start();
    const a = await server.agent('a');
    a.send(status(leaving));
    const told = async (): Promise<number | undefined> =>
      (await a.next(PacketType.STATUS)).status?.replacements;
    assert.equal(await told(), 0);
    const b = await server.agent('b');
    assert.equal(await told(), 1);
    b.stream.abort(1, 'gone');
    assert.equal(await told(), 0);
  });
});

describe('an agent of ours under an order', () => {
  const under = (id: string, number: number): Status => ({
    ...blankStatus(),
    orderNumber: number,
    order: {
      id,
      version: 1,
      actor: 'ann',
      actorClaimed: true,
      reason: '',
      sinceUnixMs: 0,
      deadlineInMs: -1,
      close: false,
      untilRestart: false,
    },
  });

  it('is told how many could replace it, and again for another order', async () => {
    const server = await start();
    await server.agent('b');
    const a = await server.agent('a', { features: 'status,order', instance: 'i' });
    const told = async (): Promise<number | undefined> =>
      (await a.next(PacketType.STATUS)).status?.replacements;
    a.send(status(under('one', 1)));
    assert.equal(await told(), 1);
    a.send(status(under('two', 2)));
    assert.equal(await told(), 1);
  });
});

describe('a stream that may not be chosen yet', () => {
  it('is one of our agent before its first STATUS', async () => {
    const server = await start();
    const announced = answering(await server.agent('a'));
    const silent = await server.agent('b', { announces: false });
    const count = answering(silent);
    await dials(server, 10);
    assert.deepEqual([announced.dials, count.dials], [10, 0]);
    silent.send(status({ ...leaving, leaving: false }));
    while (count.dials === 0) await dials(server, 1);
  });

  it('is not one of a peer that never announced STATUS, whatever it calls itself', async () => {
    const server = await start();
    const count = answering(await server.agent('a', { features: 'ping,flow', announces: false }));
    await dials(server, 3);
    assert.equal(count.dials, 3);
  });

  it('is not even taken when there is no other', async () => {
    const server = await start();
    await server.agent('a', { announces: false });
    assert.match((await dial(server)).error, /No agent available/);
  });

  it('is the younger of two of a Go agent, until the older one is gone', async () => {
    const server = await start({ times: { secondStreamWaitMs: 3_600_000 } });
    const older = await server.agent('a', { kind: 'go' });
    const younger = await server.agent('a', { kind: 'go' });
    const counts = [answering(older), answering(younger)] as const;
    await dials(server, 10);
    assert.deepEqual([counts[0].dials, counts[1].dials], [10, 0]);
    older.stream.abort(1, 'gone');
    await server.logged('Agent disconnected');
    await dials(server, 5);
    assert.equal(counts[1].dials, 5);
  });
});

describe('a suspect stream', () => {
  const probe = {
    ...defaultProbeTimes,
    intervalMs: 20,
    suspectMs: 20,
    urgentSuspectMs: 20,
    deadMs: 3_600_000,
  };

  it('is one that leaves a probe unanswered; it is chosen last, and trusted again when it answers', async () => {
    const server = await start({ times: { probe } });
    const a = await server.agent('a');
    const question = await a.next(PacketType.PING);
    await server.logged('Agent is late to answer a probe');
    const b = answering(await server.agent('b'));
    await dials(server, 5);
    assert.equal(b.dials, 5);
    a.send(pong(question.amount));
    await server.logged('Agent answers again');
  });

  it('still serves when there is no other', async () => {
    const server = await start({ times: { probe } });
    const a = await server.agent('a');
    await server.logged('Agent is late to answer a probe');
    const count = answering(a);
    assert.equal((await dial(server)).error, '');
    assert.equal(count.dials, 1);
  });

  it('is given up when it stays silent', async () => {
    const server = await start({ times: { probe: { ...probe, deadMs: 60 } } });
    const a = await server.agent('a');
    await server.logged('its stream is given up');
    await a.ended;
  });

  it('is one that leaves three dials in a row unanswered', async () => {
    const server = await start({ times: { dialTimeoutMs: 250 } });
    await server.agent('a');
    for (let i = 0; i < 3; i++) assert.match((await dial(server)).error, /no answer/);
    await server.logged('Agent leaves dials unanswered');
    const b = answering(await server.agent('b'));
    await dials(server, 5);
    assert.equal(b.dials, 5);
  });

  it('is trusted again when it answers a dial after all', async () => {
    const server = await start({ times: { dialTimeoutMs: 200 } });
    const agent = await server.agent('a');
    for (let i = 0; i < 3; i++) assert.match((await dial(server)).error, /no answer/);
    await server.logged('Agent leaves dials unanswered');
    const request = await agent.next(PacketType.DIAL_REQ);
    agent.send(dialResponse(request.dialId, 4));
    assert.equal((await agent.next(PacketType.CLOSE_REQ)).connectId, 4);
    const [backend] = [...server.server.backends.all()];
    assert.ok(backend !== undefined);
    assert.equal(server.server.backends.isSuspect(backend), false);
  });

  it('of a Go agent is found by HTTP/2 pings, which a live one answers', async () => {
    const server = await start({ times: { probe: { ...probe, suspectMs: 3_600_000 } } });
    await server.agent('a', { kind: 'go' });
    const [backend] = [...server.server.backends.all()];
    assert.ok(backend !== undefined);
    while (server.server.backends.roundTripMs(backend) === undefined) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(server.server.backends.isSuspect(backend), false);
  });
});
