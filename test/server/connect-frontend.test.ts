import assert from 'node:assert/strict';
import { once } from 'node:events';
import { afterEach, describe, it } from 'node:test';
import { encodeDataFrame } from '../../src/proxy/wire/encode.ts';
import { PacketType } from '../../src/proxy/wire/packet.ts';
import { closeResponse, dialFailure, dialResponse } from '../../src/proxy/wire/packets.ts';
import { readHead, received, requestConnect } from '../peers/connect-request.ts';
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

const data = (connectId: number, text: string): Buffer => encodeDataFrame(connectId, Buffer.from(text));

describe('an HTTP CONNECT request', () => {
  it('becomes a tunnel that carries bytes both ways, the 200 complete and first', async () => {
    const server = await start();
    const agent = await server.agent('a');
    const socket = await server.connectSocket();
    requestConnect(socket, '10.0.0.1:80');
    const request = await agent.next(PacketType.DIAL_REQ);
    assert.equal(request.address, '10.0.0.1:80');
    assert.ok(request.dialId > 0n);
    agent.send(dialResponse(request.dialId, 1));
    assert.equal(await readHead(socket), 'HTTP/1.1 200 Connection Established\r\n\r\n');
    socket.write('to node');
    assert.equal((await agent.next(PacketType.DATA)).data.toString(), 'to node');
    agent.stream.sendFrame(data(1, 'from node'));
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    assert.equal(chunk.toString(), 'from node');
    socket.end();
    assert.equal((await agent.next(PacketType.CLOSE_REQ)).connectId, 1);
  });

  it('never gets a tunnel byte before the client spoke or the hold time was over', async () => {
    const server = await start({ times: { holdMs: 3_600_000 } });
    const agent = await server.agent('a');
    const socket = await server.connectSocket();
    requestConnect(socket, '10.0.0.1:22');
    const request = await agent.next(PacketType.DIAL_REQ);
    agent.send(dialResponse(request.dialId, 1));
    agent.stream.sendFrame(data(1, 'SSH-2.0-banner\r\n'));
    assert.equal(await readHead(socket), 'HTTP/1.1 200 Connection Established\r\n\r\n');
    // A round trip over the agent's stream: the banner has reached the server.
    const other = await server.connectSocket();
    requestConnect(other, '10.0.0.2:22');
    await agent.next(PacketType.DIAL_REQ);
    assert.equal(socket.readableLength, 0);
    socket.write('SSH-2.0-client\r\n');
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    assert.equal(chunk.toString(), 'SSH-2.0-banner\r\n');
  });

  it('of a destination that speaks and closes at once ends after its last byte', async () => {
    const server = await start();
    const agent = await server.agent('a');
    const socket = await server.connectSocket();
    requestConnect(socket, '10.0.0.1:22');
    const request = await agent.next(PacketType.DIAL_REQ);
    agent.send(dialResponse(request.dialId, 1));
    for (let i = 0; i < 40; i++) agent.stream.sendFrame(data(1, 'x'.repeat(1000)));
    agent.send(closeResponse(1));
    assert.equal(await readHead(socket), 'HTTP/1.1 200 Connection Established\r\n\r\n');
    assert.equal((await received(socket)).length, 40_000);
  });

  it('whose client hangs up while the dial is pending is taken back from the agent', async () => {
    const server = await start();
    const agent = await server.agent('a');
    const socket = await server.connectSocket();
    requestConnect(socket, '10.0.0.1:80');
    const request = await agent.next(PacketType.DIAL_REQ);
    socket.end();
    assert.equal((await agent.next(PacketType.DIAL_CLS)).dialId, request.dialId);
  });

  it('may be followed by tunnel bytes before the 200', async () => {
    const server = await start();
    const agent = await server.agent('a');
    const socket = await server.connectSocket();
    socket.write('CONNECT 10.0.0.1:80 HTTP/1.1\r\nHost: x\r\n\r\nearly');
    const request = await agent.next(PacketType.DIAL_REQ);
    agent.send(dialResponse(request.dialId, 1));
    assert.equal((await agent.next(PacketType.DATA)).data.toString(), 'early');
  });

  it('may come one byte at a time', async () => {
    const server = await start();
    const agent = await server.agent('a');
    const socket = await server.connectSocket();
    for (const byte of 'CONNECT [::1]:80 HTTP/1.1\r\nHost: x\r\n\r\n') socket.write(byte);
    assert.equal((await agent.next(PacketType.DIAL_REQ)).address, '[::1]:80');
  });

  const refusals: [string, string, number, RegExp][] = [
    ['another method', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', 405, /method GET is not allowed/],
    ['a target without a port', 'CONNECT node HTTP/1.1\r\n\r\n', 400, /bad target "node"/],
    ['a target with port 0', 'CONNECT node:0 HTTP/1.1\r\n\r\n', 400, /bad target/],
    ['a target with port 65536', 'CONNECT node:65536 HTTP/1.1\r\n\r\n', 400, /bad target/],
    ['bytes that are not HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, /not an HTTP request/],
    [
      'a head without an end',
      `CONNECT a:1 HTTP/1.1\r\nX: ${'x'.repeat(17_000)}`,
      431,
      /larger than 16384 bytes/,
    ],
    [
      'a whole head that is too large',
      `CONNECT a:1 HTTP/1.1\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`,
      431,
      /larger/,
    ],
    ['HTTP/2', 'CONNECT a:1 HTTP/2.0\r\n\r\n', 505, /use HTTP\/1.1/],
  ];
  for (const [what, bytes, code, reason] of refusals) {
    it(`with ${what} is refused with ${code} and the reason, and the connection is closed`, async () => {
      const server = await start();
      const socket = await server.connectSocket();
      socket.write(Buffer.from(bytes, 'latin1'));
      const answer = (await received(socket)).toString('latin1');
      assert.ok(answer.startsWith(`HTTP/1.1 ${code} `), answer);
      const [head, body] = answer.split('\r\n\r\n') as [string, string];
      assert.match(body, reason);
      assert.match(head, /\r\nContent-Type: text\/plain/);
      assert.match(head, new RegExp(`\r\nContent-Length: ${body.length}`));
      assert.match(head, /\r\nConnection: close/);
    });
  }

  it('that does not come in time is answered with 408', async () => {
    const server = await start({ times: { headTimeoutMs: 50 } });
    const socket = await server.connectSocket();
    socket.write('CONNECT a:1');
    assert.match((await received(socket)).toString(), /^HTTP\/1.1 408 .*not complete within 0.05 s/s);
  });

  it('without any agent is answered with 503', async () => {
    const server = await start();
    const socket = await server.connectSocket();
    requestConnect(socket, '10.0.0.1:80');
    assert.match((await received(socket)).toString(), /^HTTP\/1.1 503 .*No agent available/s);
  });

  const failures: [string, number][] = [
    ['dial tcp 10.0.0.1:80: connect: connection refused', 502],
    ['dial tcp: lookup x: no such host', 502],
    ['dial tcp 10.0.0.1:80: i/o timeout', 504],
    ['dial tcp 10.0.0.1:80: socket: too many open files', 503],
  ];
  for (const [text, code] of failures) {
    it(`that the agent answers with "${text}" fails with ${code} and these words`, async () => {
      const server = await start();
      const agent = await server.agent('a');
      const socket = await server.connectSocket();
      requestConnect(socket, '10.0.0.1:80');
      const request = await agent.next(PacketType.DIAL_REQ);
      agent.send(dialFailure(request.dialId, text));
      const answer = (await received(socket)).toString();
      assert.ok(answer.startsWith(`HTTP/1.1 ${code} `), answer);
      assert.ok(answer.includes(text));
    });
  }

  it('that no agent answers in time fails with 504', async () => {
    const server = await start({ times: { dialTimeoutMs: 50 } });
    await server.agent('a');
    const socket = await server.connectSocket();
    requestConnect(socket, '10.0.0.1:80');
    assert.match((await received(socket)).toString(), /^HTTP\/1.1 504 .*gave no answer/s);
  });

  it('whose agent is lost with no other there fails with 502', async () => {
    const server = await start();
    const agent = await server.agent('a');
    const socket = await server.connectSocket();
    requestConnect(socket, '10.0.0.1:80');
    await agent.next(PacketType.DIAL_REQ);
    agent.stream.abort(1, 'gone');
    assert.match((await received(socket)).toString(), /^HTTP\/1.1 502 .*disconnected before it answered/s);
  });

  it('keeps control characters of the agent out of the answer', async () => {
    const server = await start();
    const agent = await server.agent('a');
    const socket = await server.connectSocket();
    requestConnect(socket, '10.0.0.1:80');
    const request = await agent.next(PacketType.DIAL_REQ);
    agent.send(dialFailure(request.dialId, 'bad\r\nX-Evil: 1\u001b[31m'));
    const answer = (await received(socket)).toString();
    assert.ok(answer.includes('bad\\u000d\\u000aX-Evil: 1\\u001b[31m'), answer);
  });
});
