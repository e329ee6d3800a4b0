import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { defaultDrainBounds } from '../../src/proxy/server/drain/drain-bounds.ts';
import type { WireOrder } from '../../src/proxy/wire/order.ts';
import { blankStatus, type Status } from '../../src/proxy/wire/packet.ts';
import { status } from '../../src/proxy/wire/packets.ts';
import { until } from '../peers/sockets-left.ts';
import { TestServer, type TestServerOptions } from '../peers/test-server.ts';

let running: TestServer | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
});

async function start(options: TestServerOptions = {}): Promise<TestServer> {
  running = await TestServer.start(options);
  return running;
}

const FEATURES = 'ping,status,flow,order';
const alice = { actor: 'alice', actorClaimed: false };

function wireOrder(id: string, more: Partial<WireOrder> = {}): WireOrder {
  return {
    id,
    version: 1,
    actor: 'mallory',
    actorClaimed: false,
    reason: '',
    sinceUnixMs: 0,
    deadlineInMs: -1,
    close: false,
    untilRestart: false,
    ...more,
  };
}

const says = (more: Partial<Status>) => status({ ...blankStatus(), serverIds: ['server-1'], ...more });

describe('an agent', () => {
  it('ends no order of another agent, whatever IDs it says', async () => {
    const { server, ...rest } = await start();
    assert.ok(rest);
    const peers = running as TestServer;
    await peers.agent('victim', { features: FEATURES });
    const mallory = await peers.agent('mallory', { features: FEATURES });
    const [placed] = server.drain.drain({ agentIds: ['victim'], force: true, ...alice });
    const id = placed?.order.id as string;
    mallory.send(says({ orderNumber: 1, endedOrders: [id] }));
    mallory.send(
      says({ orderNumber: 2, order: wireOrder(id, { version: 9, deadlineInMs: 0, close: true }) }),
    );
    mallory.send(says({ orderNumber: 3, endedOrders: [id] }));
    await until(
      () => server.backends.registry.streamsOf('mallory')[0]?.status?.orderNumber === 3,
      'its word',
    );
    assert.equal(server.drain.orderOf('victim')?.version, 1);
    assert.equal(server.drain.orderOf('mallory'), undefined);
  });

  it('pushes out none of the IDs of orders that ended by operators, however many it says have', async () => {
    const peers = await start({ drain: { bounds: { ...defaultDrainBounds, mostEnded: 3 } } });
    const { drain } = peers.server;
    await peers.agent('victim', { features: FEATURES });
    const [placed] = drain.drain({ agentIds: ['victim'], force: true, ...alice });
    const id = placed?.order.id as string;
    drain.undrain({ agentIds: ['victim'], ...alice });
    const mallory = await peers.agent('mallory', { features: FEATURES });
    for (let i = 0; i < 10; i++) {
      mallory.send(says({ orderNumber: 2 * i + 1, order: wireOrder(`order-${i}`) }));
      mallory.send(says({ orderNumber: 2 * i + 2 }));
    }
    await until(
      () => peers.server.backends.registry.streamsOf('mallory')[0]?.status?.orderNumber === 20,
      'its words',
    );
    assert.throws(
      () => drain.drain({ agentIds: ['victim'], orderIds: new Map([['victim', id]]), ...alice, force: true }),
      /has ended/,
    );
  });

  it('is forgotten with the order that it was under elsewhere, also when others push it out', async () => {
    const bounds = { ...defaultDrainBounds, sightings: { ...defaultDrainBounds.sightings, mostGone: 2 } };
    const peers = await start({ drain: { bounds } });
    for (let i = 0; i < 6; i++) {
      const agent = await peers.agent(`agent-${i}`, { features: FEATURES });
      agent.send(says({ orderNumber: 1, order: wireOrder(`order-${i}`) }));
      await until(() => peers.server.drain.orderOf(`agent-${i}`) !== undefined, 'its order');
      agent.stream.abort(1, 'gone');
      await until(() => peers.server.backends.size === 0, 'its end');
    }
    assert.deepEqual(
      peers.server.drain.orders().map(({ agentId }) => agentId),
      ['agent-4', 'agent-5'],
    );
    assert.equal(peers.server.drain.known('agent-0'), false);
  });

  it('that has orders sent again and again and does not read them loses its stream', async () => {
    const peers = await start({ verbosity: 1 });
    const agent = await peers.agent('a', { features: FEATURES });
    peers.server.drain.drain({ agentIds: ['a'], reason: 'x'.repeat(1000), force: true, ...alice });
    agent.stream.pause();
    let ended = false;
    void agent.ended.then(() => {
      ended = true;
    });
    for (let number = 1; !ended && peers.server.backends.size > 0 && number < 100_000; number++) {
      agent.send(says({ orderNumber: number }));
      if (number % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => peers.server.backends.size === 0, 'the end of its stream');
  });
});

describe('an agent that changes its orders all the time', () => {
  it('fills neither the log nor the events, and what operators do is told beside it', async () => {
    const peers = await start({ verbosity: 1 });
    const agent = await peers.agent('a', { features: FEATURES });
    for (let number = 1; number <= 3_000; number++) {
      agent.send(
        says({ orderNumber: number, order: wireOrder(`order-${number}`, { reason: 'line\nbreak' }) }),
      );
    }
    const { server, lines } = peers;
    await until(() => server.drain.orderOf('a')?.id === 'order-3000', 'its last order');
    server.drain.undrain({ agentIds: ['a'], ...alice });
    const events = [...server.events.newestFirst()];
    assert.ok(events.length < 100, `${events.length} events`);
    assert.deepEqual([events[0]?.type, events[0]?.actor], ['order-ended', 'alice']);
    assert.ok(lines.all.length < 100, `${lines.all.length} lines`);
    assert.ok(lines.all.every((line) => !/[\n\r]./.test(line)));
  });
});
