import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { defaultAgentTimes } from '../../src/proxy/agent/agent-options.ts';
import { agentReadiness } from '../../src/proxy/agent/agent-readiness.ts';
import { Leaving } from '../../src/proxy/agent/leaving.ts';
import type { ServerLink } from '../../src/proxy/agent/server-link.ts';
import { Fault } from '../../src/proxy/ops/fault.ts';
import { silentLog } from '../../src/proxy/ops/log.ts';
import { blankStatus, PacketType } from '../../src/proxy/wire/packet.ts';
import { closeRequest, dialRequest, status } from '../../src/proxy/wire/packets.ts';
import { agentCase, goServer } from '../peers/agent-case.ts';
import { Balancer } from '../peers/balancer.ts';
import { readAll } from '../peers/destination-server.ts';
import { type ScriptedConnect, ScriptedServer } from '../peers/scripted-server.ts';
import { noSocketsLeft, until } from '../peers/sockets-left.ts';
import { TestAgent } from '../peers/test-agent.ts';

const replacements = (count: number) => status({ ...blankStatus(), replacements: count });

const isLeaving = (connect: ScriptedConnect) => connect.packets.next((p) => p.status?.leaving === true);

test('an idle agent says that it leaves, and ends by itself once its server says it can be replaced', () =>
  agentCase(async ({ agent, connect }) => {
    agent.agent.leave();
    agent.agent.leave();
    await isLeaving(connect);
    connect.send(replacements(2));
    assert.equal(await agent.ended, 'left');
    assert.equal((await connect.ended).cause, 'half-close');
    // Once apart from what its servers say of replacements, which it carries.
    const told = connect.packets.all.filter((p) => p.status?.leaving && p.status.replacements < 0);
    assert.equal(told.length, 1);
    await agent.logged('Leaving: nothing is left');
  }));

for (const [name, drainTimeoutMs, words] of [
  ['no --drain-timeout is set', 0, 'no --drain-timeout is set, so the grace period of the platform applies'],
  ['it has time', 90_000, 'at the last tunnel, or after 90 s (--drain-timeout)'],
] as const) {
  test(`what is left when an agent begins to leave is logged, and what ends it where ${name}`, () =>
    agentCase(
      async ({ agent, connect, destination }) => {
        await connect.open(destination.address);
        agent.agent.leave();
        const line = await agent.logged('Leaving: new dials go to other agents');
        assert.match(line, /left=1/);
        assert.ok(line.includes(words), line);
      },
      {},
      { drainTimeoutMs },
    ));
}

for (const [name, answers] of [
  ['that says nothing', []],
  ['that has no replacement', [replacements(0)]],
] as const) {
  test(`an idle agent of a server ${name} lingers before it ends`, () =>
    agentCase(
      async ({ agent, connect }) => {
        agent.agent.leave();
        for (const answer of answers) connect.send(answer);
        assert.equal(await agent.ended, 'left');
      },
      {},
      // Were it the short wait, this would never end.
      { times: { leaveReplacedMs: 3_600_000, leaveLingerMs: 5 } },
    ));
}

test('a Go server is told DRAIN, once, and a lingering agent ends', () =>
  agentCase(
    async ({ agent, connect }) => {
      agent.agent.leave();
      assert.equal(await agent.ended, 'left');
      await connect.ended;
      assert.deepEqual(connect.types, [PacketType.DRAIN]);
    },
    goServer,
    { times: { leaveReplacedMs: 3_600_000, leaveLingerMs: 5 } },
  ));

test('every stream is told, and every server must name a replacement', async () => {
  const one = await ScriptedServer.start({ serverId: 'one', serverCount: 2 });
  const two = await ScriptedServer.start({ serverId: 'two', serverCount: 2 }, one);
  const balancer = await Balancer.start([one.port, two.port]);
  const agent = new TestAgent(one, { port: balancer.port });
  const [first, second] = [await one.connected(), await two.connected()];
  await until(() => agent.agent.servers.links.size === 2, 'both streams');
  agent.agent.leave();
  await Promise.all([isLeaving(first), isLeaving(second)]);
  first.send(replacements(1));
  second.send(replacements(0));
  await until(
    () => [...agent.agent.servers.links.values()].some((link) => link.replacements === 0),
    'both words',
  );
  second.send(replacements(1));
  assert.equal(await agent.ended, 'left');
  await Promise.all([first.ended, second.ended]);
  balancer.close();
  await two.close();
  await one.close();
  await noSocketsLeft();
});

test('a leaving agent goes on serving its tunnel and new dials, and ends after the last', () =>
  agentCase(async ({ agent, connect, destination }) => {
    destination.onSocket = (socket) => socket.pipe(socket);
    const old = await connect.open(destination.address);
    agent.agent.leave();
    await isLeaving(connect);
    connect.send(replacements(1));
    const late = await connect.open(destination.address);
    for (const id of [old, late]) {
      connect.data(id, `echo ${id}`);
      const echo = await connect.packets.next((p) => p.type === PacketType.DATA && p.connectId === id);
      assert.equal(echo.data.toString(), `echo ${id}`);
    }
    connect.send(closeRequest(old));
    await connect.closed(old);
    assert.match(
      agentReadiness(agent.agent, false).text,
      /^ok: leaving \(since .*, 1 tunnels and 0 dials left\)$/,
    );
    assert.equal(agentReadiness(agent.agent, false).ready, true);
    connect.send(closeRequest(late));
    await connect.closed(late);
    assert.equal(await agent.ended, 'left');
  }));

test('what a destination has not taken yet is written before a leaving agent ends', () =>
  agentCase(
    async ({ agent, connect, destination }) => {
      const total = 150 * 65_536;
      const id = await connect.open(destination.address);
      const socket = await destination.accepted.next();
      for (let sent = 0; sent < total; sent += 65_536) connect.data(id, Buffer.alloc(65_536));
      connect.send(closeRequest(id));
      await connect.closed(id);
      agent.agent.leave();
      connect.send(replacements(1));
      await connect.ended;
      const all = readAll(socket);
      assert.equal(await agent.ended, 'left');
      assert.equal((await all).length, total);
    },
    { features: 'ping,status' },
  ));

test('a dial that comes to an idle leaving agent keeps it until the dial is answered', () =>
  agentCase(
    async ({ agent, connect }) => {
      agent.agent.leave();
      await isLeaving(connect);
      connect.send(replacements(1));
      connect.send(dialRequest(1n, '10.0.0.1:80'));
      assert.match((await connect.next(PacketType.DIAL_RSP)).error, /refused/);
      assert.equal(await agent.ended, 'left');
    },
    {},
    {
      times: { leaveReplacedMs: 10 },
      // Takes longer than the wait of an idle agent.
      connectDestination: () =>
        new Promise((_resolve, reject) => {
          setTimeout(() => reject(new Fault('refused', 'connection refused')), 60);
        }),
    },
  ));

test('a leaving agent makes no stream, and ends when it has lost its last', () =>
  agentCase(async ({ agent, connect, server }) => {
    agent.agent.leave();
    await isLeaving(connect);
    connect.socket.destroy();
    assert.equal(await agent.ended, 'left');
    assert.equal(server.calls.all.length, 1);
  }));

test('a Connect that is in flight at the signal never joins', () =>
  agentCase(
    async ({ agent, server }) => {
      await server.calls.next();
      agent.agent.leave();
      assert.equal(await agent.ended, 'left');
      assert.equal(agent.agent.servers.links.size, 0);
    },
    { headers: 'silent' },
    {},
    'none',
  ));

test('an agent that is told to leave before it has connected ends at once', () =>
  agentCase(
    async ({ agent }) => {
      agent.agent.leave();
      assert.equal(await agent.ended, 'left');
    },
    {},
    {},
    'none',
  ));

test('at the drain timeout the rest is closed with that reason', () =>
  agentCase(
    async ({ agent, connect, destination }) => {
      const id = await connect.open(destination.address);
      const socket = await destination.accepted.next();
      const reset = once(socket, 'error');
      socket.resume();
      agent.agent.leave();
      connect.send(replacements(1));
      assert.equal((await connect.closed(id)).error, 'drain-deadline');
      assert.equal((await reset)[0].code, 'ECONNRESET');
      assert.equal(await agent.ended, 'left');
      await agent.logged('reason="drain-deadline"');
    },
    {},
    { drainTimeoutMs: 30 },
  ));

test('a second signal ends the agent at once, and its tunnels say so', () =>
  agentCase(async ({ agent, connect, destination }) => {
    const id = await connect.open(destination.address);
    agent.agent.leave();
    await isLeaving(connect);
    const end = agent.stop();
    assert.equal((await connect.closed(id)).error, 'stopping');
    assert.equal(await end, 'stopped');
  }));

test('a second signal does not wait for a server that does not end its stream', () =>
  agentCase(
    async ({ agent, connect }) => {
      connect.stream.end = () => {};
      assert.equal(await agent.stop(), 'stopped');
      connect.socket.destroy();
    },
    {},
    { times: { closeMs: 5 } },
  ));

test('the wait grows again when the agent that was to replace this one is gone', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const link = { replacements: 1 } as ServerLink;
  let done = 0;
  const leaving = new Leaving({
    times: { ...defaultAgentTimes, leaveReplacedMs: 1_000, leaveLingerMs: 60_000 },
    drainTimeoutMs: 0,
    log: silentLog,
    links: () => [link],
    busy: () => 0,
    onDone: () => done++,
  });
  leaving.begin();
  link.replacements = 0;
  leaving.changed();
  t.mock.timers.tick(50_000);
  assert.equal(done, 0);
  t.mock.timers.tick(10_000);
  assert.equal(done, 1);
});
