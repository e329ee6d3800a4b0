import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blankStatus, PacketType } from '../../src/proxy/wire/packet.ts';
import { closeRequest, ping } from '../../src/proxy/wire/packets.ts';
import { agentCase, goServer } from '../peers/agent-case.ts';
import { Balancer } from '../peers/balancer.ts';
import { ScriptedServer } from '../peers/scripted-server.ts';
import { noSocketsLeft, until } from '../peers/sockets-left.ts';
import { TestAgent, type TestAgentOptions } from '../peers/test-agent.ts';

/** Several servers behind a balancer, and an agent. */
async function fleet(
  counts: readonly number[],
  options: TestAgentOptions,
  run: (servers: ScriptedServer[], agent: TestAgent, balancer: Balancer) => Promise<void>,
): Promise<void> {
  const servers: ScriptedServer[] = [];
  for (const [i, serverCount] of counts.entries()) {
    servers.push(await ScriptedServer.start({ serverId: `server-${i + 1}`, serverCount }, servers[0]));
  }
  const balancer = await Balancer.start(servers.map((server) => server.port));
  const agent = new TestAgent(servers[0] as ScriptedServer, { ...options, port: balancer.port });
  try {
    await run(servers, agent, balancer);
  } finally {
    await agent.stop();
    balancer.close();
    for (const server of servers.reverse()) await server.close();
  }
  await noSocketsLeft();
}

test('an agent of one server holds one stream and makes no other', () =>
  agentCase(async ({ agent, server }) => {
    await until(() => agent.agent.servers.links.has(server.serverId), 'the stream');
    assert.equal(server.calls.all.length, 1);
  }));

test('an agent connects to as many servers as they say there are', () =>
  fleet([3, 3, 3], {}, async (servers, agent, balancer) => {
    for (const server of servers) await server.connected();
    await until(() => agent.agent.servers.links.size === 3, 'three streams');
    assert.equal(balancer.connections, 3);
    assert.equal(agent.agent.servers.serverCount, 3);
  }));

test('every server learns to which servers the agent has a stream', () =>
  fleet([2, 2], {}, async (servers) => {
    for (const server of servers) {
      const stream = await server.connected();
      const both = await stream.packets.next((p) => p.status?.serverIds.length === 2);
      assert.deepEqual(both.status?.serverIds.sort(), ['server-1', 'server-2']);
    }
  }));

test('a stream that reaches a known server is dropped again, was never offered, and the older one stays', () =>
  fleet([2], { syncForever: true }, async ([server], agent) => {
    const first = await server!.connected();
    const second = await server!.connected();
    await second.ended;
    await agent.logged('known already');
    assert.deepEqual(second.types, []);
    assert.equal(first.stream.open, true);
    assert.equal(agent.agent.servers.links.size, 1);
    first.send(ping(1));
    await first.next(PacketType.PONG);
  }));

test('a server that does not end a stream that was dropped is cut off', () =>
  fleet([2], { times: { closeMs: 5 } }, async ([server]) => {
    await server!.connected();
    const second = await server!.connected();
    // The script ends what is half-closed; here it may not.
    second.stream.end = () => {};
    assert.equal((await second.ended).cause, 'half-close');
    await new Promise((resolve) => second.socket.once('close', resolve));
  }));

test('a lost server is looked for again while the others stay', () =>
  fleet([2, 2], {}, async (servers, agent) => {
    const streams = [await servers[0]!.connected(), await servers[1]!.connected()];
    await until(() => agent.agent.servers.links.size === 2, 'both');
    streams[1]!.socket.destroy();
    await servers[1]!.connected();
    await until(() => agent.agent.servers.links.size === 2, 'both again');
    assert.equal(streams[0]!.stream.open, true);
  }));

test('a fleet that says it has shrunk is believed, and no stream is dropped for it', () =>
  fleet([2, 1], {}, async (servers, agent) => {
    await servers[0]!.connected();
    await servers[1]!.connected();
    await until(() => agent.agent.servers.links.size === 2, 'both');
    assert.equal(agent.agent.servers.serverCount, 1);
  }));

test('the first packet towards our server is STATUS, with who it is in the metadata', () =>
  agentCase(
    async ({ connect }) => {
      const first = await connect.packets.next();
      assert.equal(first.type, PacketType.STATUS);
      assert.deepEqual(first.status, {
        ...blankStatus(),
        serverIds: ['server-a'],
      });
      assert.deepEqual(connect.metadata.get('agentID'), ['node-7']);
      assert.deepEqual(connect.metadata.get('agentIdentifiers'), ['host=a&ipv4=10.0.0.1']);
      assert.deepEqual(connect.metadata.get('kts-features'), ['flow,half-close,order,ping,status']);
      assert.match(String(connect.metadata.get('kts-instance')[0]), /^[0-9a-f]{16}$/);
    },
    { serverId: 'server-a' },
    { agentId: 'node-7', identifiers: 'host=a&ipv4=10.0.0.1' },
  ));

test('a STATUS that did not change is not sent again', () =>
  agentCase(async ({ connect, destination }) => {
    const id = await connect.open(destination.address);
    await connect.packets.next((p) => p.status?.tunnels === 1);
    connect.send(closeRequest(id));
    await connect.packets.next((p) => p.status?.tunnels === 0);
    const texts = connect.packets.all.filter((p) => p.status !== null).map((p) => JSON.stringify(p.status));
    for (let i = 1; i < texts.length; i++) assert.notEqual(texts[i], texts[i - 1]);
  }));

test('a Go server gets no packet of the extension, whatever happens', () =>
  agentCase(async ({ connect, agent, destination, server }) => {
    destination.onSocket = (socket) => socket.resume().write(Buffer.alloc(1024 * 1024));
    const id = await connect.open(destination.address);
    connect.data(id, Buffer.alloc(1024 * 1024));
    connect.send(ping(3));
    await until(() => connect.bytes(id) === 1024 * 1024, 'the download');
    agent.agent.leave();
    await connect.next(PacketType.DRAIN);
    connect.send(closeRequest(id));
    await connect.closed(id);
    const upstream = [PacketType.DIAL_RSP, PacketType.DATA, PacketType.CLOSE_RSP, PacketType.DRAIN];
    assert.deepEqual([...new Set(connect.types)].sort(), [...upstream].sort());
    assert.equal(connect.types[0], PacketType.DIAL_RSP);
    assert.equal(server.calls.all.length, 1);
  }, goServer));

test('a server of a later version gets the features that both know', () =>
  agentCase(
    async ({ connect, destination }) => {
      connect.send(ping(4));
      assert.equal((await connect.next(PacketType.PONG)).amount, 4);
      const id = await connect.open(destination.address);
      connect.send(closeRequest(id));
      await connect.closed(id);
      assert.ok(!connect.types.includes(PacketType.STATUS));
    },
    { features: 'ping, order,teleport' },
  ));

for (const publicStreams of [false, true]) {
  test(`tunnels work over ${publicStreams ? 'public' : 'fast'} streams`, () =>
    agentCase(
      async ({ connect, destination }) => {
        destination.onSocket = (socket) => socket.pipe(socket);
        const id = await connect.open(destination.address);
        connect.data(id, 'echo');
        assert.equal((await connect.next(PacketType.DATA)).data.toString(), 'echo');
      },
      {},
      { publicStreams },
    ));
}
