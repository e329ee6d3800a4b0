import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { Fault } from '../../src/proxy/ops/fault.ts';
import type { DrainCommand } from '../../src/proxy/server/drain/drain-command.ts';
import { blankStatus, type Packet, PacketType, type Status } from '../../src/proxy/wire/packet.ts';
import { dialRequest, dialResponse, drain, pong, status } from '../../src/proxy/wire/packets.ts';
import type { ScriptedStream } from '../peers/scripted-stream.ts';
import { until } from '../peers/sockets-left.ts';
import { type ScriptedAgentOptions, TestServer, type TestServerOptions } from '../peers/test-server.ts';

let running: TestServer | undefined;

async function start(options: TestServerOptions = {}): Promise<TestServer> {
  running = await TestServer.start(options);
  return running;
}

afterEach(async () => {
  await running?.close();
  running = undefined;
});

/** Connects an agent, and waits until it may be chosen. */
async function connect(server: TestServer, id: string, options: ScriptedAgentOptions = {}) {
  const agent = await server.agent(id, options);
  const { registry } = server.server.backends;
  const choosable = () =>
    registry.streamsOf(id).every((one) => !one.announces || registry.stateOf(one)?.announced === true);
  if (options.announces !== false) await until(choosable, `the first STATUS of ${id}`);
  return agent;
}

const alice = { actor: 'alice', actorClaimed: false };
const order = (agentIds: string[], more: Partial<DrainCommand> = {}): DrainCommand => ({
  agentIds,
  ...alice,
  ...more,
});

/** Makes a scripted agent answer every dial, and counts them. */
function answering(agent: ScriptedStream): { dials: number } {
  const seen = { dials: 0 };
  agent.onPacket = (packet: Packet) => {
    if (packet.type === PacketType.PING) agent.send(pong(packet.amount));
    if (packet.type !== PacketType.DIAL_REQ) return;
    seen.dials++;
    agent.send(dialResponse(packet.dialId, seen.dials));
  };
  return seen;
}

let lastDialId = 0n;

async function dials(server: TestServer, count: number, address = '10.0.0.1:80'): Promise<void> {
  for (let i = 0; i < count; i++) {
    const frontend = server.frontend();
    frontend.send(dialRequest(++lastDialId, address));
    assert.equal((await frontend.next(PacketType.DIAL_RSP)).error, '');
    frontend.stream.abort(1, 'done');
  }
}

const refusal = (code: string, text: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Fault, String(error));
  assert.equal(error.code, code);
  assert.match(error.line, text);
  return true;
};

const tiers = (server: TestServer, agentId: string): boolean[] =>
  server.server.backends.registry
    .streamsOf(agentId)
    .map((backend) => server.server.backends.registry.stateOf(backend)?.draining === true);

describe('a drain order', () => {
  for (const kind of ['go', 'ts'] as const) {
    it(`of a ${kind} agent sends its dials elsewhere, and brings them back when it ends`, async () => {
      const server = await start();
      const [a, b] = [await connect(server, 'a', { kind }), await connect(server, 'b', { kind })];
      const counts = [answering(a), answering(b)] as const;
      const [placed] = server.server.drain.drain(order(['a'], { reason: 'kernel patch' }));
      assert.equal(placed?.change, 'placed');
      await dials(server, 20);
      assert.deepEqual([counts[0].dials, counts[1].dials], [0, 20]);
      const [ended] = server.server.drain.undrain({ agentIds: ['a'], ...alice });
      assert.equal(ended?.change, 'ended');
      assert.equal(ended?.order?.reason, 'kernel patch');
      assert.deepEqual(tiers(server, 'a'), [false]);
      server.server.drain.drain(order(['b']));
      await dials(server, 10);
      assert.deepEqual([counts[0].dials, counts[1].dials], [10, 20]);
    });
  }

  it('leaves the tunnels of its agent alone', async () => {
    const server = await start();
    const agent = await connect(server, 'a');
    const frontend = server.frontend();
    frontend.send(dialRequest(1n, '10.0.0.1:80'));
    agent.send(dialResponse((await agent.next(PacketType.DIAL_REQ)).dialId, 1));
    await frontend.next(PacketType.DIAL_RSP);
    server.server.drain.drain(order(['a'], { force: true }));
    assert.equal(server.server.counters.establishedTunnels, 1);
  });

  it('goes to an agent of ours at once, and again on each new stream, which is draining from its first instant', async () => {
    const server = await start();
    await connect(server, 'b', { features: 'ping,status,flow,order' });
    const agent = await connect(server, 'a', { features: 'ping,status,flow,order', instance: 'one' });
    const [placed] = server.server.drain.drain(order(['a'], { reason: 'kernel patch', deadlineMs: 60_000 }));
    const { order: sent } = await agent.next(PacketType.ORDER);
    assert.equal(sent?.order?.id, placed?.order.id);
    assert.equal(sent?.order?.reason, 'kernel patch');
    assert.ok((sent?.order?.deadlineInMs ?? 0) > 50_000);
    const again = await connect(server, 'a', {
      features: 'ping,status,flow,order',
      instance: 'two',
      announces: false,
    });
    assert.deepEqual(tiers(server, 'a'), [true, true]);
    assert.equal((await again.next(PacketType.ORDER)).order?.order?.id, placed?.order.id);
  });

  it('that met another one in its way is sent again when the agent says that this one has ended', async () => {
    const server = await start();
    await connect(server, 'b');
    const agent = await connect(server, 'a', { features: 'ping,status,order', instance: 'one' });
    const far = { id: 'far', version: 1, actor: 'bob', actorClaimed: false, reason: '', sinceUnixMs: 1 };
    const relayed = { ...far, deadlineInMs: -1, close: false, untilRestart: false };
    agent.send(status({ ...blankStatus(), orderNumber: 1, order: relayed }));
    await until(() => server.server.drain.orderOf('a')?.id === 'far', 'the relayed order');
    server.server.drain.undrain({ agentIds: ['a'], ...alice });
    const [placed] = server.server.drain.drain(order(['a']));
    assert.deepEqual((await agent.next(PacketType.ORDER)).order?.ended, ['far']);
    const sent = async () => (await agent.next(PacketType.ORDER)).order?.order?.id;
    assert.equal(await sent(), placed?.order.id);
    // The end came over another stream, behind the order on this one.
    agent.send(status({ ...blankStatus(), orderNumber: 2, endedOrders: ['far'] }));
    assert.equal(await sent(), placed?.order.id);
  });

  it('of another server is shown as the newest process of its agent has it, also in an older version', async () => {
    const server = await start();
    const far = { id: 'far', actor: 'bob', actorClaimed: false, sinceUnixMs: 1 };
    const under = (version: number, reason: string): Status => {
      const relayed = { ...far, version, reason, deadlineInMs: -1, close: false, untilRestart: false };
      return { ...blankStatus(), orderNumber: 1, order: relayed };
    };
    const shown = (): string | undefined => server.server.drain.orderOf('a')?.reason;
    const features = 'ping,status,order';
    for (const [instance, version, reason] of [
      ['one', 2, 'second'],
      ['two', 1, 'first'],
      ['three', 1, 'as first'],
    ] as const) {
      const agent = await connect(server, 'a', { features, instance, announces: false });
      agent.send(status(under(version, reason)));
      await until(() => shown() === reason, `the word of instance ${instance}`);
    }
  });

  it('holds for a Go agent through its reconnects', async () => {
    const server = await start();
    await connect(server, 'b', { kind: 'go' });
    const first = await connect(server, 'a', { kind: 'go' });
    server.server.drain.drain(order(['a']));
    first.stream.end();
    await server.logged('Agent disconnected');
    assert.equal(server.server.drain.orderOf('a')?.actor, 'alice');
    await connect(server, 'a', { kind: 'go' });
    assert.deepEqual(tiers(server, 'a'), [true]);
  });

  it('that is repeated changes nothing, and with other options is a new version of the same order', async () => {
    const server = await start();
    await connect(server, 'a');
    await connect(server, 'b');
    const [first] = server.server.drain.drain(order(['a'], { reason: 'one' }));
    const [same] = server.server.drain.drain(order(['a'], { actor: 'bob' }));
    assert.equal(same?.change, 'unchanged');
    assert.equal(same?.order.actor, 'alice');
    const [updated] = server.server.drain.drain(order(['a'], { reason: 'two', actor: 'bob' }));
    assert.equal(updated?.change, 'updated');
    assert.equal(updated?.previous?.reason, 'one');
    assert.deepEqual(
      [updated?.order.id, updated?.order.version, updated?.order.reason, updated?.order.actor],
      [first?.order.id, 2, 'two', 'bob'],
    );
  });

  it('that is in force is changed by a command that names its ID, as one to several servers does', async () => {
    const server = await start();
    await connect(server, 'a');
    await connect(server, 'b');
    const orderIds = new Map([['a', 'shared']]);
    server.server.drain.drain(order(['a'], { reason: 'one', orderIds }));
    const [same] = server.server.drain.drain(order(['a'], { reason: 'one', orderIds }));
    assert.equal(same?.change, 'unchanged');
    const [updated] = server.server.drain.drain(
      order(['a'], { deadlineMs: 60_000, atDeadline: 'close', orderIds }),
    );
    assert.deepEqual(
      [updated?.change, updated?.order.id, updated?.order.version, updated?.order.atDeadline],
      ['updated', 'shared', 2, 'close'],
    );
    assert.notEqual(server.server.drain.orderOf('a')?.deadlineUnixMs, undefined);
  });

  it('that is only validated changes nothing', async () => {
    const server = await start();
    await connect(server, 'a');
    await connect(server, 'b');
    const [outcome] = server.server.drain.drain(order(['a'], { validateOnly: true }));
    assert.equal(outcome?.change, 'placed');
    assert.deepEqual(server.server.drain.orders(), []);
    assert.deepEqual(tiers(server, 'a'), [false]);
  });

  it('for an agent that nobody knows is refused, and none of the request is placed', async () => {
    const server = await start();
    await connect(server, 'a');
    await connect(server, 'b');
    assert.throws(
      () => server.server.drain.drain(order(['a', 'nobody'])),
      refusal('agent-unknown', /no agent nobody is connected/),
    );
    assert.deepEqual(server.server.drain.orders(), []);
  });

  it('does not close tunnels of other agents', async () => {
    const server = await start();
    await connect(server, 'a');
    const agent = await connect(server, 'b');
    answering(agent);
    server.server.drain.drain(order(['a']));
    const frontend = server.frontend();
    frontend.send(dialRequest(7n, '10.0.0.1:80'));
    await frontend.next(PacketType.DIAL_RSP);
    assert.equal(server.server.counters.establishedTunnels, 1);
  });

  it('until restart is refused for a Go agent, which announces no instance', async () => {
    const server = await start();
    await connect(server, 'a', { kind: 'go' });
    await connect(server, 'b', { kind: 'go' });
    assert.throws(
      () => server.server.drain.drain(order(['a'], { until: 'restart' })),
      refusal('bad-order', /agent a is a Go agent/),
    );
  });

  it('until restart ends when another instance connects, and not by a second stream of the same', async () => {
    const server = await start();
    await connect(server, 'b');
    await connect(server, 'a', { instance: 'one' });
    server.server.drain.drain(order(['a'], { until: 'restart' }));
    await connect(server, 'a', { instance: 'one' });
    assert.deepEqual(tiers(server, 'a'), [true, true]);
    await connect(server, 'a', { instance: 'two' });
    assert.equal(server.server.drain.orderOf('a'), undefined);
    assert.equal(tiers(server, 'a').at(-1), false);
  });
});

describe('undrain', () => {
  it('takes the mark from a Go agent that said DRAIN, and says what that means', async () => {
    const server = await start();
    const agent = await connect(server, 'a', { kind: 'go' });
    agent.send(drain());
    await server.logged('Agent drains');
    assert.deepEqual(tiers(server, 'a'), [true]);
    const [outcome] = server.server.drain.undrain({ agentIds: ['a'], ...alice });
    assert.equal(outcome?.change, 'ended');
    assert.match(outcome?.notes.join() ?? '', /Go agent a said that it drains/);
    assert.deepEqual(tiers(server, 'a'), [false]);
  });

  it('of an agent of ours that is shutting down is refused, with the time since', async () => {
    const server = await start();
    const agent = await connect(server, 'a');
    const leaving: Status = { ...blankStatus(), leaving: true };
    agent.send(status(leaving));
    await server.logged('Agent drains');
    assert.throws(
      () => server.server.drain.undrain({ agentIds: ['a'], ...alice }),
      refusal('undrain-refused', /^a is shutting down since \d\d:\d\d; only a new process makes it ready$/),
    );
  });

  it('of an agent without an order changes nothing', async () => {
    const server = await start();
    await connect(server, 'a');
    const [outcome] = server.server.drain.undrain({ agentIds: ['a'], ...alice });
    assert.deepEqual(outcome, { agentId: 'a', change: 'unchanged', notes: [] });
  });

  it('of an agent that is gone ends its order', async () => {
    const server = await start();
    await connect(server, 'b');
    const agent = await connect(server, 'a');
    server.server.drain.drain(order(['a']));
    agent.stream.end();
    await server.logged('Agent disconnected');
    assert.equal(server.server.drain.undrain({ agentIds: ['a'], ...alice })[0]?.change, 'ended');
    await connect(server, 'a');
    assert.deepEqual(tiers(server, 'a'), [false]);
  });
});
