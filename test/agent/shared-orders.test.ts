import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PacketType } from '../../src/proxy/wire/packet.ts';
import { closeRequest } from '../../src/proxy/wire/packets.ts';
import { goServer } from '../peers/agent-case.ts';
import { Balancer } from '../peers/balancer.ts';
import { DestinationServer } from '../peers/destination-server.ts';
import { type RealAgent, startRealAgent } from '../peers/real-agent.ts';
import { ScriptedServer } from '../peers/scripted-server.ts';
import { noSocketsLeft, until } from '../peers/sockets-left.ts';
import { TestServer } from '../peers/test-server.ts';

const times = {
  syncIntervalMs: 5,
  syncIntervalCapMs: 20,
  firstRetriesMs: [2, 5],
  retryMs: 10,
  statusIntervalMs: 1,
  closeMs: 60_000,
};

interface Servers {
  readonly one: TestServer;
  readonly two: TestServer;
  /** Like a Go server. */
  readonly go: ScriptedServer;
  readonly agent: RealAgent;
  readonly balancer: Balancer;
  readonly destination: DestinationServer;
}

/** One agent with streams to two servers of ours and one that is like a Go server. */
async function threeServers(run: (servers: Servers) => Promise<void>): Promise<void> {
  const one = await TestServer.start({ serverId: 'one', serverCount: 3 });
  const two = await TestServer.start({ serverId: 'two', serverCount: 3 });
  const go = await ScriptedServer.start({ ...goServer, serverId: 'go', serverCount: 3 });
  const caFile = join(one.pki.directory, 'all.crt');
  writeFileSync(
    caFile,
    [one.caFile, two.caFile, go.ca.certFile].map((file) => readFileSync(file)).join('\n'),
  );
  const destination = await DestinationServer.start();
  const balancer = await Balancer.start([one.server.agentPort, two.server.agentPort, go.port]);
  const agent = await startRealAgent(one, 'a', { times, via: { port: balancer.port, caFile } });
  try {
    await until(() => agent.agent.servers.links.size === 3 && isReady(one) && isReady(two), 'three streams');
    await run({ one, two, go, agent, balancer, destination });
  } finally {
    await agent.stop();
    balancer.close();
    await destination.close();
    await go.close();
    await two.close();
    await one.close();
  }
  await noSocketsLeft();
}

/** What the server makes of the agent's stream; undefined while it has none, or has not heard of it. */
function drains({ server }: TestServer): boolean | undefined {
  const { registry } = server.backends;
  const states = registry.streamsOf('a').map((stream) => registry.stateOf(stream));
  if (states.length !== 1 || states[0]?.announced !== true) return undefined;
  return states[0].draining;
}

const isReady = (server: TestServer): boolean => drains(server) === false;

const drain = (server: TestServer, more: { reason?: string; deadlineMs?: number } = {}) =>
  server.server.drain.drain({ agentIds: ['a'], actor: 'ada', actorClaimed: true, force: true, ...more });
const undrain = (server: TestServer) =>
  server.server.drain.undrain({ agentIds: ['a'], actor: 'bob', actorClaimed: false });

test('an order that is placed at one server drains the agent at the others, and is ended there', () =>
  threeServers(async ({ one, two, go, agent }) => {
    const toGo = await go.connected();
    drain(one, { reason: 'new kernel', deadlineMs: 3_600_000 });
    await until(() => drains(two) === true, 'the order at the other server');
    await toGo.next(PacketType.DRAIN);
    const [stored, relayed] = [one, two].map(({ server }) => server.drain.orderOf('a'));
    assert.deepEqual([stored?.relayed, relayed?.relayed], [false, true]);
    assert.deepEqual(
      [relayed?.id, relayed?.actor, relayed?.actorClaimed, relayed?.reason],
      [stored?.id, 'ada', true, 'new kernel'],
    );
    const apartMs = Math.abs((relayed?.deadlineUnixMs ?? 0) - (stored?.deadlineUnixMs ?? 0));
    assert.ok(apartMs < 60_000, `deadlines ${apartMs} ms apart`);
    undrain(two);
    await until(() => isReady(one) && isReady(two), 'the end at both servers');
    assert.equal(one.server.drain.orderOf('a'), undefined);
    assert.equal(agent.agent.order, null);
    assert.equal((await toGo.ended).cause, 'half-close');
    await go.connected();
  }));

test('an update at the other server comes back to the one that placed the order', () =>
  threeServers(async ({ one, two }) => {
    drain(one, { reason: 'first' });
    await until(() => drains(two) === true, 'the order at the other server');
    drain(two, { reason: 'second' });
    await until(() => one.server.drain.orderOf('a')?.reason === 'second', 'the update');
    assert.deepEqual(
      [one, two].map(({ server }) => server.drain.orderOf('a')?.version),
      [2, 2],
    );
  }));

test('an order holds at every server when all streams break and come again', () =>
  threeServers(async ({ one, two, go, balancer, agent }) => {
    const toGo = await go.connected();
    drain(one);
    await until(() => drains(two) === true, 'the order at the other server');
    await toGo.next(PacketType.DRAIN);
    balancer.cut();
    await until(() => agent.agent.servers.links.size < 3, 'the cut');
    assert.equal((await (await go.connected()).packets.next()).type, PacketType.DRAIN);
    // Never ready in between: a stream that came again counts only when it is known, and then it drains.
    const seen = new Set<boolean | undefined>();
    await until(() => {
      for (const server of [one, two]) seen.add(drains(server));
      return drains(one) === true && drains(two) === true;
    }, 'both streams again');
    assert.equal(seen.has(false), false);
  }));

test('two orders that cross on the way leave one, the same at all servers', () =>
  threeServers(async ({ one, two, agent }) => {
    const [mine, other] = [drain(one)[0]?.order.id, drain(two)[0]?.order.id];
    assert.notEqual(mine, other);
    const shown = () => [one, two].map(({ server }) => server.drain.orderOf('a')?.id);
    await until(
      () => agent.agent.order !== null && shown().every((id) => id === agent.agent.order?.id),
      'one order',
    );
    undrain(two);
    await until(() => isReady(one) && isReady(two), 'the end at both servers');
    assert.deepEqual([agent.agent.order, ...shown()], [null, undefined, undefined]);
  }));

test('a tunnel over a Go server keeps that stream draining alone, and the others are ready', () =>
  threeServers(async ({ one, two, go, agent, destination }) => {
    const toGo = await go.connected();
    const id = await toGo.open(destination.address);
    drain(one);
    await toGo.next(PacketType.DRAIN);
    undrain(one);
    await until(() => isReady(one) && isReady(two), 'the end at both servers');
    const told = () => [...one.server.backends.all()][0]?.status?.stillDraining;
    await until(() => told()?.[0] === 'go', 'the word that one server cannot be told');
    toGo.send(closeRequest(id));
    await toGo.closed(id);
    await go.connected();
    await until(() => agent.agent.servers.links.size === 3, 'the stream made anew');
    await until(() => told()?.length === 0, 'the word that it is over');
  }));
