import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentReadiness } from '../../src/proxy/agent/agent-readiness.ts';
import { PacketType } from '../../src/proxy/wire/packet.ts';
import { agentCase } from '../peers/agent-case.ts';
import { Balancer } from '../peers/balancer.ts';
import { DestinationServer } from '../peers/destination-server.ts';
import { ScriptedServer } from '../peers/scripted-server.ts';
import { noSocketsLeft, openSockets, socketDescriptors, until } from '../peers/sockets-left.ts';
import { TestAgent } from '../peers/test-agent.ts';

test('an agent is back after a restarted server listens again', () =>
  agentCase(async ({ server, agent, destination }) => {
    await server.stopListening();
    await agent.logged('Lost the stream');
    await agent.logged('Cannot connect');
    assert.equal(agent.agent.servers.links.size, 0);
    await server.listen();
    const again = await server.connected();
    assert.equal(await again.open(destination.address), 1);
  }));

test('a stream that the server ends is made again, and why it ended is said', () =>
  agentCase(async ({ server, agent, connect }) => {
    connect.stream.end(14, 'the server is shutting down');
    assert.match(await agent.logged('Lost the stream'), /UNAVAILABLE: the server is shutting down/);
    await server.connected();
  }));

test('a server that takes every stream and drops it is not asked in a loop', () =>
  agentCase(
    async ({ server, agent }) => {
      await server.connected();
      await server.connected();
      await until(
        () => agent.agent.lastFault !== undefined && agent.agent.servers.links.size === 0,
        'the loss',
      );
      const { ready, text } = agentReadiness(agent.agent, false);
      assert.equal(ready, false);
      assert.match(text, /UNAVAILABLE: closed by script/);
      // The third attempt is an hour away: it does not come.
      for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
      assert.equal(server.calls.all.length, 2);
    },
    { headers: 'close' },
    { times: { firstRetriesMs: [1, 3_600_000] } },
    'none',
  ));

test('a server that takes the connection and never answers is given up, and its connection with it', () =>
  agentCase(
    async ({ server, agent }) => {
      const line = await agent.logged('Cannot connect');
      assert.match(line, /gave no answer within 0.05 s/);
      await server.calls.next();
      await until(() => agent.agent.counts.failedConnects >= 3, 'three attempts');
      assert.ok(server.sockets.size <= 2);
    },
    { headers: 'silent' },
    { times: { connectTimeoutMs: 50 } },
    'none',
  ));

test('a server of ours that is silent is probed, then its stream is dropped and made again', () =>
  agentCase(
    async ({ server, agent, connect }) => {
      await connect.next(PacketType.PING);
      await agent.logged('Server does not answer');
      const verdict = agentReadiness(agent.agent, true);
      assert.equal(verdict.ready, false);
      assert.match(verdict.text, new RegExp(`no answer from ${server.serverId}`));
      assert.match(await agent.logged('Lost the stream'), /the server does not answer/);
      await server.connected();
      await connect.ended;
    },
    { answersPings: false },
    { times: { probe: { intervalMs: 10, suspectMs: 20, urgentSuspectMs: 20, deadMs: 60 } } },
  ));

test('a server that answers late is healthy again', () =>
  agentCase(
    async ({ agent, connect }) => {
      await agent.logged('Server does not answer');
      connect.data(99, 'anything');
      await agent.logged('Server answers again');
      assert.equal(agentReadiness(agent.agent, false).ready, true);
    },
    { answersPings: false },
    { times: { probe: { intervalMs: 10, suspectMs: 20, urgentSuspectMs: 20, deadMs: 60_000 } } },
  ));

for (const [name, features] of [
  ['our', 'ping,status,flow'],
  ['a Go', undefined],
] as const) {
  test(`when the way to ${name} server goes silent without an end, the stream is made again and nothing is kept`, async () => {
    const before = openSockets();
    const server = await ScriptedServer.start({ features });
    const balancer = await Balancer.start([server.port]);
    const agent = new TestAgent(server, {
      port: balancer.port,
      times: {
        probe: { intervalMs: 10, suspectMs: 20, urgentSuspectMs: 20, deadMs: 60 },
        goProbeIntervalMs: 10,
      },
    });
    await server.connected();
    await until(() => agent.agent.servers.links.size === 1, 'the stream');
    const withOne = openSockets();
    balancer.freeze();
    await agent.logged('Lost the stream');
    await server.connected();
    // All ends of the new connection; of the frozen one, which nobody else closes, all but the agent's.
    await until(() => openSockets() === withOne + 3, 'the close of the frozen connection');
    await agent.stop();
    balancer.close();
    await server.close();
    await noSocketsLeft(before);
  });
}

for (const [name, features] of [
  ['our', 'ping,status,flow'],
  ['a Go', undefined],
] as const) {
  const onLinux = { skip: process.platform !== 'linux' };
  test(
    `a connection to ${name} server that took no more bytes is closed, also when it breaks off late`,
    onLinux,
    async () => {
      const before = socketDescriptors();
      const server = await ScriptedServer.start({ features });
      const balancer = await Balancer.start([server.port]);
      const destination = await DestinationServer.start();
      destination.onSocket = (socket) => {
        const more = (): void => {
          while (!socket.destroyed && socket.write(Buffer.alloc(65_536)));
        };
        socket.on('drain', more);
        more();
      };
      const agent = new TestAgent(server, {
        port: balancer.port,
        times: {
          probe: { intervalMs: 10, suspectMs: 20, urgentSuspectMs: 20, deadMs: 60 },
          goProbeIntervalMs: 10,
        },
      });
      // Whether Node learns of the break depends on what it was about.
      for (let round = 0; round < 6; round++) {
        const connect = await server.connected();
        connect.grantsLink = features !== undefined;
        await connect.open(destination.address);
        await connect.next(PacketType.DATA);
        // More than the kernel takes: so it waits in the connection, as what comes the other way does.
        while (connect.stream.bufferedBytes < 4 * 1024 * 1024) connect.data(1, Buffer.alloc(65_536));
        balancer.freeze();
        await agent.logged('Lost the stream');
        balancer.cutFrozen();
      }
      await agent.stop();
      balancer.close();
      await destination.close();
      await server.close();
      await until(() => socketDescriptors() <= before, 'the close of every socket');
    },
  );
}
