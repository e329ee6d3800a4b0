import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { defaultDrainBounds } from '../../src/proxy/server/drain/drain-bounds.ts';
import { blankStatus, PacketType } from '../../src/proxy/wire/packet.ts';
import { dialRequest, dialResponse, status } from '../../src/proxy/wire/packets.ts';
import { ManualClock } from '../peers/manual-clock.ts';
import type { ScriptedStream } from '../peers/scripted-stream.ts';
import { until } from '../peers/sockets-left.ts';
import { TestServer } from '../peers/test-server.ts';

const alice = { actor: 'alice', actorClaimed: false };
const HOUR_MS = 3_600_000;

describe('the deadline of a drain order', () => {
  let server: TestServer;
  let clock: ManualClock;
  let agent: ScriptedStream;
  const closed = (): number | undefined => server.server.counters.closedTunnels.get('drain-deadline');

  beforeEach(async () => {
    clock = new ManualClock();
    const bounds = { ...defaultDrainBounds, mostOrders: 2 };
    server = await TestServer.start({ drain: { clock, bounds } });
    agent = await server.agent('a', { features: 'ping,status,order', instance: 'one' });
    await until(() => server.server.backends.registry.anyReady, 'a ready agent');
    const frontend = server.frontend();
    frontend.send(dialRequest(1n, '10.0.0.1:80'));
    agent.send(dialResponse((await agent.next(PacketType.DIAL_REQ)).dialId, 1));
    await frontend.next(PacketType.DIAL_RSP);
  });
  afterEach(() => server.close());

  const drainAgent = (atDeadline: 'keep' | 'close', deadlineMs = HOUR_MS) =>
    server.server.drain.drain({ agentIds: ['a'], atDeadline, deadlineMs, force: true, ...alice });

  it('closes the tunnels of its agent where it says so, and the order stays', async () => {
    drainAgent('close');
    clock.advance(HOUR_MS - 1);
    assert.equal(server.server.counters.establishedTunnels, 1);
    clock.advance(1);
    await until(() => closed() === 1, 'the end of the tunnel');
    assert.equal(server.server.drain.orderOf('a')?.overdue, true);
    assert.ok(server.lines.all.some((line) => line.includes('closedTunnels=1')));
  });

  it('lets tunnels run on otherwise, and the order is overdue', async () => {
    drainAgent('keep');
    clock.advance(HOUR_MS);
    await until(() => server.server.drain.orderOf('a')?.overdue === true, 'an order that is overdue');
    assert.equal(server.server.counters.establishedTunnels, 1);
  });

  it('is no matter of the wall clock while the server is up', async () => {
    drainAgent('close');
    clock.jump(10 * HOUR_MS);
    clock.advance(HOUR_MS - 1);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(server.server.counters.establishedTunnels, 1);
  });

  it('can be moved and taken away', async () => {
    drainAgent('close');
    drainAgent('close', 2 * HOUR_MS);
    clock.advance(HOUR_MS);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(server.server.counters.establishedTunnels, 1);
    const [outcome] = drainAgent('close', 0);
    assert.equal(outcome?.order.deadlineUnixMs, undefined);
    clock.advance(5 * HOUR_MS);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(server.server.counters.establishedTunnels, 1);
    assert.equal(server.server.drain.orderOf('a')?.version, 3);
  });

  it('of an order that was placed at another server closes the tunnels of this one, too', async () => {
    const order = {
      id: 'far',
      version: 1,
      actor: 'bob',
      actorClaimed: false,
      reason: 'kernel',
      sinceUnixMs: 1,
      deadlineInMs: HOUR_MS,
      close: true,
      untilRestart: false,
    };
    agent.send(status({ ...blankStatus(), orderNumber: 1, order }));
    await until(() => server.server.drain.orderOf('a')?.relayed === true, 'the relayed order');
    // Said again later, and in between: the deadline does not move.
    clock.advance(HOUR_MS / 2);
    agent.send(status({ ...blankStatus(), orderNumber: 1, order, tunnels: 7 }));
    await until(() => [...server.server.backends.all()][0]?.status?.tunnels === 7, 'the next STATUS');
    clock.advance(HOUR_MS / 2);
    await until(() => closed() === 1, 'the end of the tunnel');
  });

  for (const [where, placeHere] of [
    ['another server', false],
    ['this server', true],
  ] as const) {
    it(`that passed acts once, also when the order of ${where} is given another reason elsewhere`, async () => {
      const far = { id: 'far', version: 1, actor: 'bob', actorClaimed: false, reason: '', sinceUnixMs: 1 };
      const order = { ...far, deadlineInMs: HOUR_MS, close: true, untilRestart: false };
      if (placeHere) {
        const orderIds = new Map([['a', 'far']]);
        const terms = { atDeadline: 'close', deadlineMs: HOUR_MS, force: true, orderIds } as const;
        server.server.drain.drain({ agentIds: ['a'], ...terms, ...alice });
      } else {
        agent.send(status({ ...blankStatus(), orderNumber: 1, order }));
        await until(() => server.server.drain.orderOf('a') !== undefined, 'the relayed order');
      }
      clock.advance(HOUR_MS);
      await until(() => closed() === 1, 'the end of the tunnel');
      const frontend = server.frontend();
      frontend.send(dialRequest(2n, '10.0.0.1:80'));
      agent.send(dialResponse((await agent.next(PacketType.DIAL_REQ)).dialId, 2));
      await frontend.next(PacketType.DIAL_RSP);
      const renamed = { ...order, version: 2, reason: 'kernel', deadlineInMs: 0 };
      agent.send(status({ ...blankStatus(), orderNumber: 2, order: renamed }));
      await until(() => server.server.drain.orderOf('a')?.reason === 'kernel', 'the new version');
      assert.equal(server.server.drain.orderOf('a')?.overdue, true);
      clock.advance(1);
      await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual([closed(), server.server.counters.establishedTunnels], [1, 1]);
      agent.send(
        status({
          ...blankStatus(),
          orderNumber: 3,
          order: { ...renamed, version: 3, deadlineInMs: HOUR_MS },
        }),
      );
      await until(() => server.server.drain.orderOf('a')?.overdue === false, 'the moved deadline');
    });
  }

  it('that an agent says to be beyond any calendar harms nothing', async () => {
    const order = {
      id: 'far',
      version: Number.MAX_SAFE_INTEGER,
      actor: '',
      actorClaimed: false,
      reason: '',
      sinceUnixMs: 8.64e15,
      deadlineInMs: Number.MAX_SAFE_INTEGER,
      close: true,
      untilRestart: true,
    };
    agent.send(status({ ...blankStatus(), orderNumber: 1, order }));
    agent.send(status({ ...blankStatus(), orderNumber: 2, order: { ...order, version: 1 } }));
    await until(() => server.server.drain.orderOf('a')?.id === 'far', 'the relayed order');
    assert.equal(server.server.counters.establishedTunnels, 1);
  });

  it('orders are bounded in number: one more is refused, and one that exists can still be changed', async () => {
    await server.agent('b', { kind: 'go' });
    await server.agent('c', { kind: 'go' });
    drainAgent('keep');
    server.server.drain.drain({ agentIds: ['b'], force: true, ...alice });
    assert.throws(() => server.server.drain.drain({ agentIds: ['c'], force: true, ...alice }), {
      code: 'too-many-orders',
    });
    assert.equal(drainAgent('close')[0]?.change, 'updated');
  });
});
