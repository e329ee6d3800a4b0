import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { type Packet, PacketType } from '../../src/proxy/wire/packet.ts';
import { closeDial, dialFailure, dialRequest, dialResponse, pong } from '../../src/proxy/wire/packets.ts';
import { TestServer, type TestServerOptions } from '../peers/test-server.ts';

let running: TestServer | undefined;

async function start(options: TestServerOptions = {}): Promise<TestServer> {
  running = await TestServer.start(options);
  return running;
}

afterEach(async () => {
  await running?.close();
  assert.equal(running?.server.counters.pendingDials ?? 0, 0);
  assert.equal(running?.server.counters.establishedTunnels ?? 0, 0);
  running = undefined;
});

describe('a dial through the gRPC frontend', () => {
  it('reaches the agent unchanged, with a dial ID that needs all of int64', async () => {
    const server = await start();
    const agent = await server.agent('a');
    const id = 2n ** 63n - 1n;
    server.frontend().send(dialRequest(id, '10.0.0.1:80'));
    const request = await agent.next(PacketType.DIAL_REQ);
    assert.deepEqual([request.dialId, request.address, request.protocol], [id, '10.0.0.1:80', 'tcp']);
  });

  it('is answered with its own ID and the error text of the agent, and the stream ends in order', async () => {
    const server = await start();
    const agent = await server.agent('a');
    const frontend = server.frontend();
    frontend.send(dialRequest(7n, '10.0.0.1:80'));
    await agent.next(PacketType.DIAL_REQ);
    agent.send(dialFailure(7n, 'dial tcp 10.0.0.1:80: connect: connection refused'));
    const answer = await frontend.next(PacketType.DIAL_RSP);
    assert.equal(answer.dialId, 7n);
    assert.equal(answer.error, 'dial tcp 10.0.0.1:80: connect: connection refused');
    assert.equal((await frontend.ended).code, 0);
  });

  it('fails at once and says so when no agent is connected', async () => {
    const server = await start();
    const frontend = server.frontend();
    frontend.send(dialRequest(7n, '10.0.0.1:80'));
    const answer = await frontend.next(PacketType.DIAL_RSP);
    assert.equal(answer.dialId, 7n);
    assert.match(answer.error, /No agent available/);
  });

  it('goes to another agent when the first is lost before it answered', async () => {
    const server = await start();
    const asked: string[] = [];
    for (const name of ['a', 'b']) {
      const agent = await server.agent(name);
      agent.onPacket = (packet) => {
        if (packet.type !== PacketType.DIAL_REQ) return;
        asked.push(name);
        if (asked.length === 1) agent.stream.abort(1, 'gone');
        else agent.send(dialResponse(packet.dialId, 3));
      };
    }
    const frontend = server.frontend();
    frontend.send(dialRequest(7n, '10.0.0.1:80'));
    assert.equal((await frontend.next(PacketType.DIAL_RSP)).connectId, 3);
    assert.deepEqual(asked.sort(), ['a', 'b']);
  });

  it('asks an agent that is silent whether it is there, and goes to another one when it is not', async () => {
    const probe = { intervalMs: 3_600_000, awaitedMs: 20, suspectMs: 20, urgentSuspectMs: 20, deadMs: 60 };
    const server = await start({ times: { probe } });
    // Draining: it gets the dial only when no other agent is left, and is there before the silent one is given up.
    const other = await server.agent('b', { leaving: true });
    other.onPacket = (packet) => {
      if (packet.type === PacketType.PING) other.send(pong(packet.amount));
    };
    const silent = await server.agent('a');
    const frontend = server.frontend();
    frontend.send(dialRequest(9n, '10.0.0.1:80'));
    await silent.next(PacketType.DIAL_REQ);
    await silent.next(PacketType.PING);
    await server.logged('Agent is late');
    assert.equal((await other.next(PacketType.DIAL_REQ)).dialId, 9n);
    other.send(dialResponse(9n, 1));
    assert.equal((await frontend.next(PacketType.DIAL_RSP)).connectId, 1);
  });

  it('fails with its ID when the only agent is lost before it answered', async () => {
    const server = await start();
    const agent = await server.agent('a');
    const frontend = server.frontend();
    frontend.send(dialRequest(7n, '10.0.0.1:80'));
    await agent.next(PacketType.DIAL_REQ);
    agent.stream.abort(1, 'gone');
    const answer = await frontend.next(PacketType.DIAL_RSP);
    assert.equal(answer.dialId, 7n);
    assert.match(answer.error, /agent a disconnected before it answered/);
  });

  it('is tried twice at most', async () => {
    const server = await start();
    const agents = [await server.agent('a'), await server.agent('b'), await server.agent('c')];
    const frontend = server.frontend();
    let asked = 0;
    for (const agent of agents) {
      agent.onPacket = (packet) => {
        if (packet.type !== PacketType.DIAL_REQ) return;
        asked++;
        agent.stream.abort(1, 'gone');
      };
    }
    frontend.send(dialRequest(7n, '10.0.0.1:80'));
    assert.match((await frontend.next(PacketType.DIAL_RSP)).error, /disconnected/);
    assert.equal(asked, 2);
  });

  it('ends with a reason when the agent never answers, and the agent is told to stop', async () => {
    const server = await start({ times: { dialTimeoutMs: 50 } });
    const agent = await server.agent('a');
    const frontend = server.frontend();
    frontend.send(dialRequest(7n, '10.0.0.1:80'));
    const answer = await frontend.next(PacketType.DIAL_RSP);
    assert.match(answer.error, /agent a gave no answer within 0.05 s/);
    assert.equal((await agent.next(PacketType.DIAL_CLS)).dialId, 7n);
  });

  it('that is answered too late has its connection closed', async () => {
    const server = await start({ times: { dialTimeoutMs: 50 } });
    const agent = await server.agent('a');
    server.frontend().send(dialRequest(7n, '10.0.0.1:80'));
    await agent.next(PacketType.DIAL_CLS);
    agent.send(dialResponse(7n, 41));
    assert.equal((await agent.next(PacketType.CLOSE_REQ)).connectId, 41);
  });

  it('that the client gives up is taken back from the agent', async () => {
    const server = await start();
    const agent = await server.agent('a');
    const frontend = server.frontend();
    frontend.send(dialRequest(7n, '10.0.0.1:80'));
    await agent.next(PacketType.DIAL_REQ);
    frontend.send(closeDial(7n));
    assert.equal((await agent.next(PacketType.DIAL_CLS)).dialId, 7n);
  });

  it('is taken back from the agent when the client vanishes', async () => {
    const server = await start();
    const agent = await server.agent('a');
    const frontend = server.frontend();
    frontend.send(dialRequest(7n, '10.0.0.1:80'));
    await agent.next(PacketType.DIAL_REQ);
    frontend.stream.abort(1, 'gone');
    assert.equal((await agent.next(PacketType.DIAL_CLS)).dialId, 7n);
  });

  it('fails when the agent hands out connectID 0, which would hang kube-apiserver', async () => {
    const server = await start();
    const agent = await server.agent('a');
    const frontend = server.frontend();
    frontend.send(dialRequest(7n, '10.0.0.1:80'));
    await agent.next(PacketType.DIAL_REQ);
    agent.send(dialResponse(7n, 0));
    assert.match((await frontend.next(PacketType.DIAL_RSP)).error, /without a usable connectID/);
  });

  it('fails when the agent hands out a connectID that is in use, and the tunnel that has it is closed', async () => {
    const server = await start();
    const agent = await server.agent('a');
    const one = server.frontend();
    one.send(dialRequest(1n, '10.0.0.1:80'));
    await agent.next(PacketType.DIAL_REQ);
    agent.send(dialResponse(1n, 5));
    await one.next(PacketType.DIAL_RSP);
    const two = server.frontend();
    two.send(dialRequest(2n, '10.0.0.1:80'));
    await agent.next(PacketType.DIAL_REQ);
    agent.send(dialResponse(2n, 5));
    assert.match((await two.next(PacketType.DIAL_RSP)).error, /connectID that is in use/);
    assert.match((await one.next(PacketType.CLOSE_RSP)).error, /protocol-error/);
  });

  it('with an ID that is pending on the same agent is refused, and the first goes on', async () => {
    const server = await start();
    const agent = await server.agent('a');
    const [one, two] = [server.frontend(), server.frontend()];
    one.send(dialRequest(9n, '10.0.0.1:80'));
    await agent.next(PacketType.DIAL_REQ);
    two.send(dialRequest(9n, '10.0.0.1:80'));
    assert.match((await two.next(PacketType.DIAL_RSP)).error, /same ID/);
    agent.send(dialResponse(9n, 1));
    assert.equal((await one.next(PacketType.DIAL_RSP)).connectId, 1);
  });

  it('with the ID of one that was just taken back is refused until the agent has answered that', async () => {
    const server = await start();
    const agent = await server.agent('a');
    const [one, two, three] = [server.frontend(), server.frontend(), server.frontend()];
    one.send(dialRequest(9n, '10.0.0.1:80'));
    await agent.next(PacketType.DIAL_REQ);
    one.send(closeDial(9n));
    await agent.next(PacketType.DIAL_CLS);
    two.send(dialRequest(9n, '10.0.0.2:80'));
    assert.match((await two.next(PacketType.DIAL_RSP)).error, /same ID/);
    agent.send(dialResponse(9n, 1));
    assert.equal((await agent.next(PacketType.CLOSE_REQ)).connectId, 1);
    three.send(dialRequest(9n, '10.0.0.2:80'));
    assert.equal((await agent.next(PacketType.DIAL_REQ)).address, '10.0.0.2:80');
    agent.send(dialResponse(9n, 2));
    assert.equal((await three.next(PacketType.DIAL_RSP)).connectId, 2);
  });

  it('is refused while the server is shutting down, and a live tunnel runs on until it ends', async () => {
    const server = await start({ times: { lingerMs: 50 } });
    const agent = await server.agent('a');
    const live = server.frontend();
    live.send(dialRequest(1n, '10.0.0.1:80'));
    await agent.next(PacketType.DIAL_REQ);
    agent.send(dialResponse(1n, 1));
    await live.next(PacketType.DIAL_RSP);
    const stopped = server.server.shutdown(60_000, new AbortController().signal);
    const late = server.frontend();
    late.send(dialRequest(2n, '10.0.0.1:80'));
    const answer: Packet = await late.next(PacketType.DIAL_RSP);
    assert.match(answer.error, /shutting down/);
    assert.equal(server.server.readiness.ready, false);
    live.stream.abort(1, 'done');
    await stopped;
  });

  it('that is not sent on a stream in time ends the stream', async () => {
    const server = await start({ times: { headTimeoutMs: 50 } });
    const frontend = server.frontend();
    const end = await frontend.ended;
    assert.equal(end.code, 4);
    assert.match(end.details, /no DIAL_REQ/);
  });
});
