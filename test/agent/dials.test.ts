import assert from 'node:assert/strict';
import { connect as connectSocket, type Socket } from 'node:net';
import { test } from 'node:test';
import { MOST_PENDING_DIALS } from '../../src/proxy/agent/stream-dials.ts';
import { PacketType } from '../../src/proxy/wire/packet.ts';
import { closeDial, closeRequest, dialRequest } from '../../src/proxy/wire/packets.ts';
import { agentCase, goServer } from '../peers/agent-case.ts';
import { openBlackHole } from '../peers/black-hole.ts';
import { deferred } from '../peers/deferred.ts';
import { until } from '../peers/sockets-left.ts';

test('connectIDs start at 1 and are never used again', () =>
  agentCase(async ({ connect, destination }) => {
    for (let expected = 1; expected <= 5; expected++) {
      const id = await connect.open(destination.address);
      assert.equal(id, expected);
      connect.send(closeRequest(id));
      await connect.packets.next((p) => p.type === PacketType.CLOSE_RSP && p.connectId === id);
    }
  }));

test('a refused dial is answered with the words of the system and the same dial ID', () =>
  agentCase(async ({ connect, destination }) => {
    await destination.close();
    const id = 2n ** 62n + 7n;
    connect.send(dialRequest(id, destination.address));
    const answer = await connect.next(PacketType.DIAL_RSP);
    assert.equal(answer.dialId, id);
    assert.equal(answer.connectId, 0);
    assert.equal(answer.error, `dial tcp ${destination.address}: connect: connection refused`);
  }));

test('a protocol other than tcp is refused', () =>
  agentCase(async ({ connect, destination }) => {
    const request = dialRequest(5n, destination.address);
    request.protocol = 'udp';
    connect.send(request);
    const answer = await connect.next(PacketType.DIAL_RSP);
    assert.equal(answer.dialId, 5n);
    assert.match(answer.error, /protocol "udp" is not supported, only tcp/);
  }));

test('DIAL_CLS stops a connect to an address that does not answer', async () => {
  const blackHole = await openBlackHole('127.0.0.1');
  try {
    await agentCase(async ({ connect, agent }) => {
      const id = connect.dial(`127.0.0.1:${blackHole.port}`);
      await agent.logged('"Dial"');
      connect.send(closeDial(id));
      const answer = await connect.next(PacketType.DIAL_CLS);
      assert.equal(answer.dialId, id);
      assert.equal(agent.agent.status.pendingDials, 0);
      assert.equal(agent.agent.counts.failedDials, 0);
      assert.ok(!connect.types.includes(PacketType.DIAL_RSP));
    });
  } finally {
    await blackHole.close();
  }
});

test('hundreds of dials that hang delay no other', async () => {
  const blackHole = await openBlackHole('127.0.0.1');
  try {
    await agentCase(async ({ connect, agent, destination }) => {
      for (let i = 0; i < 500; i++) connect.dial(`127.0.0.1:${blackHole.port}`);
      assert.equal(await connect.open(destination.address), 1);
      assert.equal(agent.agent.status.pendingDials, 500);
    });
  } finally {
    await blackHole.close();
  }
});

test('a dial that takes longer than its time is answered with a time-out', async () => {
  const blackHole = await openBlackHole('127.0.0.1');
  try {
    await agentCase(
      async ({ connect, agent }) => {
        await assert.rejects(connect.open(`127.0.0.1:${blackHole.port}`), /i\/o timeout/);
        assert.equal(agent.agent.counts.timedOutDials, 1);
      },
      {},
      { times: { dialTimeoutMs: 20 } },
    );
  } finally {
    await blackHole.close();
  }
});

test('a second dial with an ID that is pending is refused, and the first goes on', async () => {
  const gate = deferred<Socket>();
  await agentCase(
    async ({ connect, destination }) => {
      connect.send(dialRequest(9n, destination.address));
      connect.send(dialRequest(9n, destination.address));
      const refused = await connect.next(PacketType.DIAL_RSP);
      assert.match(refused.error, /same ID is pending already/);
      gate.resolve(connectSocket(destination.port, '127.0.0.1'));
      const answer = await connect.next(PacketType.DIAL_RSP);
      assert.deepEqual([answer.error, answer.connectId, answer.dialId], ['', 1, 9n]);
    },
    {},
    { connectDestination: () => gate.promise },
  );
});

for (const [name, kind] of [
  ['our', {}],
  ['a Go', goServer],
] as const) {
  test(`no socket stays open of dials that ${name} server gives up in the instant of their success`, () =>
    agentCase(async ({ connect, agent, destination }) => {
      const { counts } = agent.agent;
      destination.onSocket = (socket) => socket.resume().on('end', () => socket.end());
      for (let i = 0; i < 400; i++) {
        const id = connect.dial(destination.address);
        // Spread over the whole life of a dial: together with it, in the next turns, and behind its answer.
        for (let turns = 0; turns < i % 8; turns++) await new Promise((resolve) => setImmediate(resolve));
        connect.send(closeDial(id));
        const end = await connect.packets.next(
          (p) => (p.type === PacketType.DIAL_CLS || p.type === PacketType.DIAL_RSP) && p.dialId === id,
        );
        // What our own server does with the answer to a dial that it gave up.
        if (end.type === PacketType.DIAL_RSP && kind !== goServer) connect.send(closeRequest(end.connectId));
      }
      await until(() => counts.openEndpoints === 0, 'all endpoints closed');
      assert.equal(agent.agent.status.tunnels, 0);
    }, kind));
}

test('a connect that succeeds although it was cancelled leaves no socket', async () => {
  const gate = deferred<Socket>();
  await agentCase(
    async ({ connect, agent, destination }) => {
      const id = connect.dial(destination.address);
      const socket = connectSocket(destination.port, '127.0.0.1');
      await agent.logged('"Dial"');
      connect.send(closeDial(id));
      connect.send(dialRequest(77n, 'x'));
      await until(() => agent.agent.counts.dials === 2, 'both packets');
      gate.resolve(socket);
      assert.equal((await connect.next(PacketType.DIAL_CLS)).dialId, id);
      assert.equal(socket.destroyed, true);
    },
    {},
    { connectDestination: (address) => (address === 'x' ? Promise.reject(new Error('no')) : gate.promise) },
  );
});

test('dials above the bound of one stream are refused, and their number falls again', async () => {
  await agentCase(
    async ({ connect, agent, destination }) => {
      for (let i = 0; i < MOST_PENDING_DIALS + 3; i++) connect.dial('10.0.0.1:1');
      for (let i = 0; i < 3; i++) {
        const answer = await connect.next(PacketType.DIAL_RSP);
        assert.match(answer.error, /this agent has 10000 dials pending already/);
      }
      assert.equal(agent.agent.status.pendingDials, MOST_PENDING_DIALS);
      connect.send(closeDial(1n));
      await connect.next(PacketType.DIAL_CLS);
      assert.equal(await connect.open(destination.address), 1);
    },
    {},
    {
      connectDestination: (address, signal) =>
        address.startsWith('10.')
          ? new Promise((_, reject) =>
              signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
            )
          : Promise.resolve(connectSocket({ host: '127.0.0.1', port: Number(address.split(':')[1]) })),
    },
  );
});
