import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { encodeDataFrame } from '../../src/proxy/wire/encode.ts';
import { PacketType } from '../../src/proxy/wire/packet.ts';
import { closeRequest, closeResponse, dialRequest, dialResponse } from '../../src/proxy/wire/packets.ts';
import type { ScriptedStream } from '../peers/scripted-stream.ts';
import { TestServer, type TestServerOptions } from '../peers/test-server.ts';

let running: TestServer | undefined;

async function start(options: TestServerOptions = {}): Promise<TestServer> {
  running = await TestServer.start(options);
  return running;
}

afterEach(async () => {
  await running?.close();
  assert.equal(running?.server.counters.establishedTunnels ?? 0, 0);
  running = undefined;
});

const data = (connectId: number, text: string): Buffer => encodeDataFrame(connectId, Buffer.from(text));

/** A tunnel from a frontend over this agent. */
async function tunnel(
  server: TestServer,
  agent: ScriptedStream,
  connectId: number,
  dialId = BigInt(connectId),
): Promise<ScriptedStream> {
  const frontend = server.frontend();
  frontend.send(dialRequest(dialId, '10.0.0.1:80'));
  await agent.next(PacketType.DIAL_REQ);
  agent.send(dialResponse(dialId, connectId));
  await frontend.next(PacketType.DIAL_RSP);
  return frontend;
}

describe('a tunnel', () => {
  it('carries bytes both ways and closes from the frontend', async () => {
    const server = await start();
    const agent = await server.agent('a');
    const frontend = await tunnel(server, agent, 1);
    frontend.stream.sendFrame(data(1, 'to node'));
    assert.equal((await agent.next(PacketType.DATA)).data.toString(), 'to node');
    agent.stream.sendFrame(data(1, 'from node'));
    assert.equal((await frontend.next(PacketType.DATA)).data.toString(), 'from node');
    frontend.send(closeRequest(1));
    assert.equal((await agent.next(PacketType.CLOSE_REQ)).connectId, 1);
    await frontend.next(PacketType.CLOSE_RSP);
    assert.equal((await frontend.ended).code, 0);
    assert.equal(server.server.counters.closedTunnels.get('frontend-closed'), 1);
  });

  it('that the agent closes ends with CLOSE_RSP and the end of the RPC, after all data', async () => {
    const server = await start();
    const agent = await server.agent('a');
    const frontend = await tunnel(server, agent, 1);
    agent.stream.sendFrame(data(1, 'last words'));
    agent.send(closeResponse(1));
    await frontend.next(PacketType.CLOSE_RSP);
    assert.equal(frontend.received.toString(), 'last words');
    assert.equal((await frontend.ended).code, 0);
  });

  it('holds back what the destination says first until the client speaks', async () => {
    const server = await start({ times: { holdMs: 3_600_000 } });
    const agent = await server.agent('a');
    const frontend = server.frontend();
    frontend.send(dialRequest(1n, '10.0.0.1:80'));
    await agent.next(PacketType.DIAL_REQ);
    agent.send(dialResponse(1n, 1));
    agent.stream.sendFrame(data(1, 'banner'));
    agent.send(closeResponse(1));
    await frontend.next(PacketType.DIAL_RSP);
    // A round trip over the agent's stream: everything sent before it has reached the server.
    const other = server.frontend();
    other.send(dialRequest(2n, '10.0.0.1:80'));
    await agent.next(PacketType.DIAL_REQ);
    assert.deepEqual(
      frontend.packets.all.map((p) => p.type),
      [PacketType.DIAL_RSP],
    );
    frontend.stream.sendFrame(data(1, 'hello'));
    await frontend.next(PacketType.CLOSE_RSP);
    assert.equal(frontend.received.toString(), 'banner');
  });

  it('lets go of what it held after the hold time, in order, when the client stays silent', async () => {
    const server = await start({ times: { holdMs: 20 } });
    const agent = await server.agent('a');
    const frontend = server.frontend();
    frontend.send(dialRequest(1n, '10.0.0.1:80'));
    await agent.next(PacketType.DIAL_REQ);
    agent.send(dialResponse(1n, 1));
    for (const word of ['one ', 'two ', 'three']) agent.stream.sendFrame(data(1, word));
    agent.send(closeResponse(1));
    assert.equal((await frontend.ended).code, 0);
    assert.equal(frontend.received.toString(), 'one two three');
  });

  it('never passes on DATA without bytes, which a Go client reads as the end', async () => {
    const server = await start();
    const agent = await server.agent('a');
    const frontend = await tunnel(server, agent, 1);
    agent.stream.sendFrame(data(1, ''));
    agent.stream.sendFrame(data(1, 'x'));
    await frontend.next(PacketType.DATA);
    frontend.stream.sendFrame(data(1, ''));
    frontend.stream.sendFrame(data(1, 'y'));
    await agent.next(PacketType.DATA);
    assert.deepEqual(frontend.packets.all.filter((p) => p.type === PacketType.DATA).length, 1);
    assert.deepEqual(agent.packets.all.filter((p) => p.type === PacketType.DATA).length, 1);
  });

  it('never mixes bytes with one of another stream of the same agent ID and the same connectID', async () => {
    const server = await start();
    const one = await server.agent('a', { instance: 'run-1' });
    const first = await tunnel(server, one, 1, 11n);
    const two = await server.agent('a', { instance: 'run-2' });
    one.stream.abort(1, 'gone');
    await server.logged('Agent disconnected');
    const second = await tunnel(server, two, 1, 12n);
    two.stream.sendFrame(data(1, 'for the second'));
    assert.equal((await second.next(PacketType.DATA)).data.toString(), 'for the second');
    assert.equal(first.received.length, 0);
    assert.match((await first.next(PacketType.CLOSE_RSP)).error, /agent a disconnected/);
  });

  it('lives on when another stream of the same agent ID with the same connectID ends', async () => {
    const server = await start();
    const one = await server.agent('a', { instance: 'run' });
    const first = await tunnel(server, one, 1, 11n);
    const two = await server.agent('a', { instance: 'run' });
    two.stream.abort(1, 'gone');
    await server.logged('Agent disconnected');
    one.stream.sendFrame(data(1, 'still here'));
    assert.equal((await first.next(PacketType.DATA)).data.toString(), 'still here');
  });

  it('is out of reach for a frontend that names its connectID', async () => {
    const server = await start();
    const agent = await server.agent('a');
    const victim = await tunnel(server, agent, 1);
    const thief = await tunnel(server, agent, 2);
    thief.stream.sendFrame(data(1, 'stolen'));
    assert.equal((await thief.ended).code, 3);
    // Its own tunnel is closed; the other one goes on and saw nothing.
    assert.equal((await agent.next(PacketType.CLOSE_REQ)).connectId, 2);
    victim.stream.sendFrame(data(1, 'mine'));
    assert.equal((await agent.next(PacketType.DATA)).data.toString(), 'mine');
  });

  it('cannot be closed by a frontend that names its connectID', async () => {
    const server = await start();
    const agent = await server.agent('a');
    await tunnel(server, agent, 1);
    const thief = await tunnel(server, agent, 2);
    thief.send(closeRequest(1));
    assert.equal((await agent.next(PacketType.CLOSE_REQ)).connectId, 2);
  });

  it('of an agent that sends garbage ends, and the tunnels of other agents go on', async () => {
    const server = await start();
    const bad = await server.agent('bad');
    const broken = await tunnel(server, bad, 1, 1n);
    const good = await server.agent('good');
    // A type without its payload.
    bad.stream.sendFrame(Buffer.from([0, 0, 0, 0, 2, 8, 4]));
    assert.equal((await bad.ended).code, 3);
    assert.match((await broken.next(PacketType.CLOSE_RSP)).error, /disconnected/);
    assert.equal(server.server.counters.closedTunnels.get('malformed-packet'), 1);
    const other = await tunnel(server, good, 1, 2n);
    good.stream.sendFrame(data(1, 'fine'));
    assert.equal((await other.next(PacketType.DATA)).data.toString(), 'fine');
  });

  it('ends for the agent when the frontend sends garbage', async () => {
    const server = await start();
    const agent = await server.agent('a');
    const frontend = await tunnel(server, agent, 1);
    frontend.stream.sendFrame(Buffer.from([0, 0, 0, 0, 2, 8, 4]));
    assert.equal((await frontend.ended).code, 3);
    assert.equal((await agent.next(PacketType.CLOSE_REQ)).connectId, 1);
    assert.equal(server.server.counters.closedTunnels.get('malformed-packet'), 1);
  });

  it('answers DATA for a connectID that nobody has once, not once per packet', async () => {
    const server = await start();
    const agent = await server.agent('a');
    for (let i = 0; i < 50; i++) agent.stream.sendFrame(data(77, 'x'));
    assert.equal((await agent.next(PacketType.CLOSE_REQ)).connectId, 77);
    await tunnel(server, agent, 1);
    assert.equal(agent.packets.all.filter((p) => p.type === PacketType.CLOSE_REQ).length, 1);
  });
});
