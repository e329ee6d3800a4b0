import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { encodeDataFrame } from '../../src/proxy/wire/encode.ts';
import { PacketType } from '../../src/proxy/wire/packet.ts';
import { closeDial, closeRequest, dialRequest, dialResponse } from '../../src/proxy/wire/packets.ts';
import type { ScriptedStream } from '../peers/scripted-stream.ts';
import { TestServer } from '../peers/test-server.ts';

let server: TestServer;
let agent: ScriptedStream;
let witness: ScriptedStream;

/** Bytes still pass in a tunnel that has nothing to do with it. */
async function theRestRunsOn(): Promise<void> {
  const text = Buffer.from(`alive ${Math.random()}`);
  agent.stream.sendFrame(encodeDataFrame(1, text));
  await witness.packets.next((p) => p.type === PacketType.DATA && p.data.equals(text));
  assert.equal(server.server.counters.pendingDials, 0);
  assert.equal(server.server.counters.establishedTunnels, 1);
}

beforeEach(async () => {
  server = await TestServer.start();
  agent = await server.agent('a');
  witness = server.frontend();
  witness.send(dialRequest(1n, '10.0.0.1:80'));
  await agent.next(PacketType.DIAL_REQ);
  agent.send(dialResponse(1n, 1));
  await witness.next(PacketType.DIAL_RSP);
});
afterEach(() => server.close());

describe('a frontend whose dial is pending', () => {
  const floods = {
    DATA: () => encodeDataFrame(1, Buffer.alloc(32 * 1024)),
    DIAL_REQ: () => dialRequest(2n, '10.0.0.1:80'),
    'DIAL_REQ with other IDs': (i: number) => dialRequest(BigInt(1_000 + i), '10.0.0.1:80'),
  };
  for (const [what, make] of Object.entries(floods)) {
    it(`loses its stream and its dial by a flood of ${what}`, async () => {
      const frontend = server.frontend();
      frontend.send(dialRequest(2n, '10.0.0.1:80'));
      await agent.packets.next((p) => p.type === PacketType.DIAL_REQ && p.dialId === 2n);
      for (let i = 0; i < 500; i++) {
        const one = make(i);
        if (Buffer.isBuffer(one)) frontend.stream.sendFrame(one);
        else frontend.send(one);
      }
      assert.equal((await frontend.ended).code, 3);
      await agent.packets.next((p) => p.type === PacketType.DIAL_CLS && p.dialId === 2n);
      await theRestRunsOn();
      assert.equal(agent.packets.all.filter((p) => p.type === PacketType.DIAL_REQ).length, 2);
    });
  }

  it('takes it back once, however often it says so', async () => {
    const frontend = server.frontend();
    frontend.send(dialRequest(2n, '10.0.0.1:80'));
    await agent.packets.next((p) => p.type === PacketType.DIAL_REQ && p.dialId === 2n);
    for (let i = 0; i < 500; i++) frontend.send(closeDial(2n));
    for (let i = 0; i < 500; i++) frontend.send(closeRequest(1));
    assert.equal((await frontend.ended).code, 0);
    await agent.next(PacketType.DIAL_CLS);
    await theRestRunsOn();
    assert.equal(agent.packets.all.filter((p) => p.type === PacketType.DIAL_CLS).length, 1);
  });

  it('that resets its stream while it is answered leaves no tunnel', async () => {
    for (let i = 0; i < 200; i++) {
      const frontend = server.frontend();
      const id = BigInt(100 + i);
      frontend.send(dialRequest(id, '10.0.0.1:80'));
      await agent.packets.next((p) => p.type === PacketType.DIAL_REQ && p.dialId === id);
      agent.send(dialResponse(id, 100 + i));
      frontend.stream.abort(1, 'gone');
      // Taken back, or closed again.
      await agent.packets.next(
        (p) =>
          (p.type === PacketType.DIAL_CLS && p.dialId === id) ||
          (p.type === PacketType.CLOSE_REQ && p.connectId === 100 + i),
      );
    }
    await theRestRunsOn();
  });
});

describe('an agent that answers a dial', () => {
  const bad = { 0: [0], 'minus one': [255, 255, 255, 255, 255, 255, 255, 255, 255, 1] };
  for (const [connectId, varint] of Object.entries(bad)) {
    it(`with connectID ${connectId} fails that dial alone`, async () => {
      const frontend = server.frontend();
      frontend.send(dialRequest(2n, '10.0.0.1:80'));
      await agent.packets.next((p) => p.type === PacketType.DIAL_REQ && p.dialId === 2n);
      const body = [8, 1, 26, varint.length + 3, 24, 2, 16, ...varint];
      body[3] = body.length - 4;
      agent.stream.sendFrame(Buffer.from([0, 0, 0, 0, body.length, ...body]));
      assert.notEqual((await frontend.next(PacketType.DIAL_RSP)).error, '');
      assert.equal((await frontend.ended).code, 0);
      await theRestRunsOn();
    });
  }

  it('with the greatest connectID has a tunnel like any other', async () => {
    const connectId = Number.MAX_SAFE_INTEGER - 1;
    const frontend = server.frontend();
    frontend.send(dialRequest(2n, '10.0.0.1:80'));
    await agent.packets.next((p) => p.type === PacketType.DIAL_REQ && p.dialId === 2n);
    agent.send(dialResponse(2n, connectId));
    assert.equal((await frontend.next(PacketType.DIAL_RSP)).connectId, connectId);
    frontend.send(closeRequest(connectId));
    assert.equal((await agent.next(PacketType.CLOSE_REQ)).connectId, connectId);
    assert.equal((await frontend.ended).code, 0);
    await theRestRunsOn();
  });

  it('a thousand times has the connections closed that nobody asked for', async () => {
    const frontend = server.frontend();
    frontend.send(dialRequest(2n, '10.0.0.1:80'));
    await agent.packets.next((p) => p.type === PacketType.DIAL_REQ && p.dialId === 2n);
    for (let i = 0; i < 1_000; i++) agent.send(dialResponse(2n, 1_000 + i));
    assert.equal((await frontend.next(PacketType.DIAL_RSP)).connectId, 1_000);
    for (let i = 1; i < 1_000; i++) {
      await agent.packets.next((p) => p.type === PacketType.CLOSE_REQ && p.connectId === 1_000 + i);
    }
    frontend.send(closeRequest(1_000));
    await frontend.ended;
    await theRestRunsOn();
  });

  it('with the connectID of a tunnel of another agent reaches its own client alone', async () => {
    const other = await server.agent('b');
    other.send(dialResponse(1n, 1));
    other.stream.sendFrame(encodeDataFrame(1, Buffer.from('foreign')));
    await other.packets.next((p) => p.type === PacketType.CLOSE_REQ && p.connectId === 1);
    await theRestRunsOn();
    assert.ok(!witness.received.includes('foreign'));
  });

  it('sends DATA under a negative connectID without being told of it, and keeps its stream', async () => {
    const minusOne = [255, 255, 255, 255, 255, 255, 255, 255, 255, 1];
    agent.stream.sendFrame(Buffer.from([0, 0, 0, 0, 18, 8, 4, 34, 14, 8, ...minusOne, 26, 1, 65]));
    await theRestRunsOn();
    assert.ok(!agent.packets.all.some((p) => p.type === PacketType.CLOSE_REQ));
  });
});

describe('an agent that has a tunnel', () => {
  it('and sends far beyond what it was granted loses that tunnel alone, and no more than that is held', async () => {
    const frontend = server.frontend();
    frontend.send(dialRequest(2n, '10.0.0.1:80'));
    await agent.packets.next((p) => p.type === PacketType.DIAL_REQ && p.dialId === 2n);
    agent.send(dialResponse(2n, 2));
    await frontend.next(PacketType.DIAL_RSP);
    // Nothing is read, so nothing is granted.
    frontend.stream.pause();
    for (let i = 0; i < 512; i++) agent.stream.sendFrame(encodeDataFrame(2, Buffer.alloc(64 * 1024)));
    const { counters, buffers } = server.server;
    await agent.packets.next((p) => p.type === PacketType.CLOSE_REQ && p.connectId === 2);
    assert.equal(counters.closedTunnels.get('protocol-error'), 1);
    assert.ok(buffers.heldBytes < 8 * 1024 * 1024, `${buffers.heldBytes} bytes are held`);
    await theRestRunsOn();
    frontend.stream.abort(1, 'enough seen');
  });

  it('and answers dials that nobody made, without reading what it is told, loses its stream', async () => {
    agent.stream.pause();
    let over = false;
    void agent.ended.then(() => {
      over = true;
    });
    for (let id = 0; !over; ) {
      // Large IDs make large refusals.
      for (let i = 0; i < 1_000; i++) agent.send(dialResponse(BigInt(++id + 1_000), 2 ** 52 + id));
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal((await witness.next(PacketType.CLOSE_RSP)).connectId, 1);
    assert.equal(server.server.backends.size, 0);
    assert.equal(server.server.counters.establishedTunnels, 0);
  });
});
