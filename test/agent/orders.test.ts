import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentMetrics } from '../../src/proxy/agent/agent-metrics.ts';
import { agentReadiness } from '../../src/proxy/agent/agent-readiness.ts';
import type { WireOrder } from '../../src/proxy/wire/order.ts';
import { blankStatus, PacketType, type Status } from '../../src/proxy/wire/packet.ts';
import { closeRequest, endOrders, ping, placeOrder, status } from '../../src/proxy/wire/packets.ts';
import { agentCase, goServer } from '../peers/agent-case.ts';
import { Balancer } from '../peers/balancer.ts';
import { DestinationServer } from '../peers/destination-server.ts';
import {
  type ScriptedConnect,
  ScriptedServer,
  type ScriptedServerOptions,
} from '../peers/scripted-server.ts';
import { noSocketsLeft, until } from '../peers/sockets-left.ts';
import { TestAgent, type TestAgentOptions } from '../peers/test-agent.ts';

const ours: ScriptedServerOptions = { features: 'ping,status,flow,order' };

const order = (id = 'k3xw', more: Partial<WireOrder> = {}): WireOrder => ({
  id,
  version: 1,
  actor: 'ada',
  actorClaimed: true,
  reason: 'new kernel',
  sinceUnixMs: Date.parse('2026-08-01T10:00:00Z'),
  deadlineInMs: -1,
  close: false,
  untilRestart: false,
  ...more,
});
const end = (...ids: string[]) => endOrders(ids, 'bob', false);

/** The next STATUS of which that is true. */
async function said(connect: ScriptedConnect, wanted: (status: Status) => boolean): Promise<Status> {
  const packet = await connect.packets.next((one) => one.status !== null && wanted(one.status));
  return packet.status as Status;
}

const isOrdered = (id: string) => (one: Status) => one.order?.id === id;
const isEnded = (id: string) => (one: Status) => one.order === null && one.endedOrders.includes(id);

/** What an agent has, and what closes with the test. */
interface Fleet {
  readonly servers: ScriptedServer[];
  /** The stream to each. */
  readonly streams: ScriptedConnect[];
  readonly agent: TestAgent;
  readonly destination: DestinationServer;
}

/** An agent with a stream to each of several servers behind a balancer. */
async function fleet(
  kinds: readonly ScriptedServerOptions[],
  run: (fleet: Fleet) => Promise<void>,
  options: TestAgentOptions = {},
): Promise<void> {
  const servers: ScriptedServer[] = [];
  for (const [i, kind] of kinds.entries()) {
    const named = { ...kind, serverId: `server-${i + 1}`, serverCount: kinds.length };
    servers.push(await ScriptedServer.start(named, servers[0]));
  }
  const balancer = await Balancer.start(servers.map((server) => server.port));
  const destination = await DestinationServer.start();
  const agent = new TestAgent(servers[0] as ScriptedServer, { ...options, port: balancer.port });
  try {
    const streams = await Promise.all(servers.map((server) => server.connected()));
    await until(() => agent.agent.servers.links.size === kinds.length, 'a stream to each');
    await run({ servers, streams, agent, destination });
  } finally {
    await agent.stop();
    balancer.close();
    await destination.close();
    for (const server of servers.reverse()) await server.close();
  }
  await noSocketsLeft();
}

/** Asks the agent a question that it answers behind everything that it has to say. */
async function quiet(connect: ScriptedConnect, number = 77): Promise<void> {
  connect.send(ping(number));
  await connect.packets.next((one) => one.type === PacketType.PONG && one.amount === number);
}

test('an order that came over one server is announced to all at once, with the same number', () =>
  fleet(
    [ours, ours, ours],
    async ({ streams, agent }) => {
      streams[1]!.send(placeOrder(order()));
      for (const stream of streams) {
        const { orderNumber, order: announced } = await said(stream, isOrdered('k3xw'));
        assert.equal(orderNumber, 1);
        assert.deepEqual(announced, order());
      }
      const line = await agent.logged('Drain order accepted');
      assert.match(line, /orderID="k3xw".* actor="ada" .*reason="new kernel".* serverID="server-2"/);
    },
    { times: { statusIntervalMs: 3_600_000 } },
  ));

test('an order that one server placed is ended by another, and everybody learns of it', () =>
  fleet([ours, ours, ours], async ({ streams, agent }) => {
    streams[0]!.send(placeOrder(order()));
    await said(streams[2]!, isOrdered('k3xw'));
    streams[2]!.send(end('k3xw'));
    for (const stream of streams) {
      const { orderNumber, endedOrders } = await said(stream, isEnded('k3xw'));
      assert.deepEqual([orderNumber, endedOrders], [2, ['k3xw']]);
    }
    assert.equal(agent.agent.order, null);
    const line = await agent.logged('Drain order ended');
    assert.match(line, /orderID="k3xw" actor="bob" .*placedBy="ada"/);
  }));

test('of two orders the first one holds, on all servers', () =>
  fleet([ours, ours], async ({ streams: [one, two], agent }) => {
    one!.send(placeOrder(order('first')));
    await said(two!, isOrdered('first'));
    two!.send(placeOrder(order('second')));
    await quiet(two!);
    assert.equal(agent.agent.order?.id, 'first');
    for (const stream of [one, two]) {
      assert.ok(!stream!.packets.all.some((packet) => packet.status?.order?.id === 'second'));
    }
  }));

test('an update is taken from any server', () =>
  fleet([ours, ours], async ({ streams: [one, two], agent }) => {
    one!.send(placeOrder(order()));
    await said(two!, isOrdered('k3xw'));
    two!.send(placeOrder(order('k3xw', { version: 2, reason: 'other', close: true })));
    const { order: updated } = await said(one!, (status) => status.order?.version === 2);
    assert.deepEqual([updated?.reason, updated?.close], ['other', true]);
    await agent.logged('Drain order updated');
  }));

test('an order is kept through a reconnect: the first packet of the new stream has it', () =>
  agentCase(async ({ server, connect }) => {
    connect.send(placeOrder(order('k3xw', { deadlineInMs: 3_600_000 })));
    await said(connect, isOrdered('k3xw'));
    connect.socket.destroy();
    const again = await server.connected();
    const first = await again.packets.next();
    assert.equal(first.type, PacketType.STATUS);
    const { order: kept, orderNumber } = first.status as Status;
    assert.equal(orderNumber, 1);
    assert.ok(kept !== null && kept.deadlineInMs > 3_000_000 && kept.deadlineInMs <= 3_600_000);
    assert.deepEqual({ ...kept, deadlineInMs: -1 }, order());
  }, ours));

test('that an order ended is remembered through a reconnect', () =>
  agentCase(async ({ server, connect, agent }) => {
    connect.send(placeOrder(order()));
    connect.send(end('k3xw'));
    await said(connect, isEnded('k3xw'));
    connect.socket.destroy();
    const again = await server.connected();
    assert.deepEqual((await again.packets.next()).status?.endedOrders, ['k3xw']);
    again.send(placeOrder(order('k3xw', { version: 5 })));
    await quiet(again);
    assert.equal(agent.agent.order, null);
  }, ours));

test('an idle agent under an order stays, serves what comes, and is ready again after the end', () =>
  agentCase(
    async ({ connect, agent, destination }) => {
      connect.send(placeOrder(order()));
      await said(connect, isOrdered('k3xw'));
      // The word on which a leaving agent would go.
      connect.send(status({ ...blankStatus(), replacements: 1 }));
      destination.onSocket = (socket) => socket.pipe(socket);
      const id = await connect.open(destination.address);
      connect.data(id, 'still there');
      assert.equal((await connect.next(PacketType.DATA)).data.toString(), 'still there');
      connect.send(closeRequest(id));
      await connect.closed(id);
      connect.send(end('k3xw'));
      await said(connect, isEnded('k3xw'));
      assert.equal(agent.agent.leaving, false);
      assert.ok(connect.packets.all.every((packet) => packet.status?.leaving !== true));
    },
    ours,
    { times: { leaveReplacedMs: 0, leaveLingerMs: 0 } },
  ));

test('an agent under an order carries what its servers say of who takes over, and forgets it with the order', () =>
  agentCase(async ({ connect }) => {
    connect.send(status({ ...blankStatus(), replacements: 4 }));
    connect.send(placeOrder(order()));
    assert.equal((await said(connect, isOrdered('k3xw'))).replacements, -1);
    connect.send(status({ ...blankStatus(), replacements: 2 }));
    await said(connect, (one) => one.replacements === 2);
    connect.send(end('k3xw'));
    assert.equal((await said(connect, isEnded('k3xw'))).replacements, -1);
    connect.send(placeOrder(order('other')));
    assert.equal((await said(connect, isOrdered('other'))).replacements, -1);
  }, ours));

test('an agent under an order that is told to leave says both, and leaves', () =>
  agentCase(async ({ connect, agent }) => {
    connect.send(placeOrder(order()));
    await said(connect, isOrdered('k3xw'));
    agent.agent.leave();
    const both = await said(connect, (one) => one.leaving);
    assert.equal(both.order?.id, 'k3xw');
    assert.match(agentReadiness(agent.agent, false).text, /^ok: leaving \(since /);
    connect.send(end('k3xw'));
    const ended = await said(connect, isEnded('k3xw'));
    assert.equal(ended.leaving, true);
    connect.send(status({ ...blankStatus(), replacements: 1 }));
    assert.equal(await agent.ended, 'left');
  }, ours));

test('a leaving agent takes an order', () =>
  agentCase(async ({ connect, agent }) => {
    agent.agent.leave();
    await said(connect, (one) => one.leaving);
    connect.send(placeOrder(order()));
    assert.equal((await said(connect, isOrdered('k3xw'))).leaving, true);
  }, ours));

test('readiness and the metric tell of an order, and the agent stays ready', () =>
  agentCase(async ({ connect, agent }) => {
    const metrics = agentMetrics(agent.agent);
    const value = async () =>
      /^konnectivity_ts_agent_drain_order (\d)$/m.exec(await metrics.registry.metrics())?.[1];
    try {
      assert.equal(await value(), '0');
      connect.send(placeOrder(order('k3xw', { actor: 'ada\n' })));
      await said(connect, isOrdered('k3xw'));
      assert.equal(await value(), '1');
      const words =
        'draining (order k3xw by ada\\u000a (claimed) since 2026-08-01T10:00:00.000Z, 0 tunnels and 0 dials left)';
      assert.deepEqual(agentReadiness(agent.agent, false), { ready: true, text: `ok: ${words}` });
      assert.ok(agentReadiness(agent.agent, true).text.includes(words));
      connect.send(end('k3xw'));
      await said(connect, isEnded('k3xw'));
      assert.equal(await value(), '0');
      assert.equal(agentReadiness(agent.agent, false).text, 'ok');
    } finally {
      metrics.close();
    }
  }, ours));

test('a flood of orders is told in the last state, and logged a few times', () =>
  agentCase(
    async ({ connect, agent }) => {
      for (let i = 0; i < 2_000; i++) {
        connect.send(placeOrder(order(`id-${i}`)));
        connect.send(end(`id-${i}`));
      }
      connect.send(placeOrder(order('last')));
      const last = await said(connect, isOrdered('last'));
      assert.equal(last.orderNumber, 4_001);
      assert.equal(last.endedOrders.length, 64);
      const told = connect.packets.all.filter((packet) => packet.status !== null).length;
      assert.ok(told < 50, `${told} STATUS packets`);
      assert.ok(agent.lines.all.filter((line) => line.includes('Drain order')).length <= 60);
    },
    ours,
    { times: { statusIntervalMs: 100 } },
  ));

test('an ORDER of a server that did not announce it is ignored', () =>
  agentCase(
    async ({ connect, agent }) => {
      connect.send(placeOrder(order()));
      await quiet(connect);
      assert.equal(agent.agent.order, null);
    },
    { features: 'ping,status,flow' },
  ));

test('a Go server is told DRAIN when an order comes over another one, once', () =>
  fleet([ours, goServer], async ({ streams: [mine, go] }) => {
    mine!.send(placeOrder(order()));
    await go!.next(PacketType.DRAIN);
    mine!.send(placeOrder(order('k3xw', { version: 2 })));
    const { stillDraining } = await said(mine!, (one) => one.order?.version === 2);
    assert.deepEqual(stillDraining, []);
    assert.deepEqual(go!.types, [PacketType.DRAIN]);
  }));

test('a stream that is made to a Go server under an order begins with DRAIN', () =>
  fleet([ours, goServer], async ({ servers, streams: [mine, go] }) => {
    mine!.send(placeOrder(order()));
    await go!.next(PacketType.DRAIN);
    go!.socket.destroy();
    const again = await servers[1]!.connected();
    assert.equal((await again.packets.next()).type, PacketType.DRAIN);
  }));

test('after an undrain a Go server keeps its stream until the last tunnel ends, then it is made anew, ready', () =>
  fleet([ours, goServer], async ({ servers, streams: [mine, go], agent, destination }) => {
    const [first, last] = [await go!.open(destination.address), await go!.open(destination.address)];
    mine!.send(placeOrder(order()));
    await go!.next(PacketType.DRAIN);
    mine!.send(end('k3xw'));
    assert.deepEqual((await said(mine!, isEnded('k3xw'))).stillDraining, ['server-2']);
    go!.send(closeRequest(first));
    await go!.closed(first);
    assert.equal(go!.stream.open, true);
    assert.equal(servers[1]!.calls.all.length, 1);
    go!.send(closeRequest(last));
    await go!.closed(last);
    assert.equal((await go!.ended).cause, 'half-close');
    const again = await servers[1]!.connected();
    await said(mine!, (one) => one.stillDraining.length === 0 && one.serverIds.length === 2);
    // Its first packet is what it answers: no DRAIN came before.
    await again.open(destination.address);
    assert.deepEqual(again.types, [PacketType.DIAL_RSP]);
    assert.ok(!agent.lines.all.some((line) => line.includes('Lost the stream')));
    await agent.logged('Connecting anew');
  }));

test('an idle stream to a Go server is made anew right at the undrain', () =>
  fleet([ours, goServer], async ({ servers, streams: [mine, go] }) => {
    mine!.send(placeOrder(order()));
    await go!.next(PacketType.DRAIN);
    mine!.send(end('k3xw'));
    assert.equal((await go!.ended).cause, 'half-close');
    await servers[1]!.connected();
  }));

test('a dial that is not answered yet keeps the stream to a Go server', () => {
  let refuse = (): void => {};
  return fleet(
    [ours, goServer],
    async ({ servers, streams: [mine, go] }) => {
      const dialId = go!.dial('10.0.0.1:80');
      await said(mine!, (one) => one.pendingDials === 1);
      mine!.send(placeOrder(order()));
      await go!.next(PacketType.DRAIN);
      mine!.send(end('k3xw'));
      assert.deepEqual((await said(mine!, isEnded('k3xw'))).stillDraining, ['server-2']);
      refuse();
      await go!.packets.next((packet) => packet.type === PacketType.DIAL_RSP && packet.dialId === dialId);
      await go!.ended;
      await servers[1]!.connected();
    },
    {
      connectDestination: () =>
        new Promise((_resolve, reject) => {
          refuse = () => reject(new Error('no way'));
        }),
    },
  );
});

test('what a tunnel left to send goes to a Go server before its stream is made anew', () =>
  fleet([ours, goServer], async ({ streams: [mine, go], destination, agent }) => {
    const total = 12 * 1024 * 1024;
    go!.stream.pause();
    destination.onSocket = (socket) => socket.end(Buffer.alloc(total));
    go!.dial(destination.address);
    mine!.send(placeOrder(order()));
    await said(mine!, isOrdered('k3xw'));
    mine!.send(end('k3xw'));
    await said(mine!, isEnded('k3xw'));
    go!.stream.resume();
    const { connectId } = await go!.next(PacketType.DIAL_RSP);
    await go!.closed(connectId);
    assert.equal(go!.bytes(connectId), total);
    assert.equal((await go!.ended).cause, 'half-close');
    assert.equal(agent.agent.counts.tunnels, 1);
  }));

test('a new order before the last tunnel ends is not said again, and keeps the stream to a Go server', () =>
  fleet([ours, goServer], async ({ servers, streams: [mine, go], destination }) => {
    const id = await go!.open(destination.address);
    mine!.send(placeOrder(order('one')));
    await go!.next(PacketType.DRAIN);
    mine!.send(end('one'));
    await said(mine!, (status) => status.stillDraining.length === 1);
    mine!.send(placeOrder(order('two')));
    assert.deepEqual((await said(mine!, isOrdered('two'))).stillDraining, []);
    go!.send(closeRequest(id));
    await go!.closed(id);
    await said(mine!, (status) => status.tunnels === 0);
    assert.equal(go!.stream.open, true);
    mine!.send(end('two'));
    await go!.ended;
    assert.equal(go!.types.filter((type) => type === PacketType.DRAIN).length, 1);
    await servers[1]!.connected();
  }));

test('an agent that is told to leave after an undrain makes no stream anew', () =>
  fleet([ours, goServer], async ({ servers, streams: [mine, go], destination, agent }) => {
    const id = await go!.open(destination.address);
    mine!.send(placeOrder(order()));
    await go!.next(PacketType.DRAIN);
    mine!.send(end('k3xw'));
    await said(mine!, (status) => status.stillDraining.length === 1);
    agent.agent.leave();
    assert.deepEqual((await said(mine!, (status) => status.leaving)).stillDraining, []);
    go!.send(closeRequest(id));
    await go!.closed(id);
    mine!.send(status({ ...blankStatus(), replacements: 1 }));
    await said(mine!, (status) => status.tunnels === 0);
    assert.equal(servers[1]!.calls.all.length, 1);
    assert.deepEqual(go!.types.filter((type) => type === PacketType.DRAIN).length, 1);
  }));

test('a server of an older version is told DRAIN before its first STATUS, and nothing of orders', () =>
  fleet([ours, { features: 'ping,status,flow' }], async ({ servers, streams: [mine, old] }) => {
    mine!.send(placeOrder(order()));
    await old!.next(PacketType.DRAIN);
    old!.socket.destroy();
    const again = await servers[1]!.connected();
    const [first, second] = [await again.packets.next(), await again.packets.next()];
    assert.deepEqual([first.type, second.type], [PacketType.DRAIN, PacketType.STATUS]);
    assert.deepEqual([second.status?.orderNumber, second.status?.order], [0, null]);
  }));
