import assert from 'node:assert/strict';
import { it } from 'node:test';
import { PacketType } from '../../src/proxy/wire/packet.ts';
import { dialRequest, dialResponse } from '../../src/proxy/wire/packets.ts';
import { readHead, received, requestConnect } from '../peers/connect-request.ts';
import { TestServer } from '../peers/test-server.ts';

it('near the limit of descriptors dials are refused with 503 and a reason, and taken again later', async () => {
  const source = { limit: 1024, open: 1023, nowMs: 0, count: () => source.open, now: () => source.nowMs };
  const server = await TestServer.start({ descriptors: source });
  try {
    const agent = await server.agent('a');
    const refused = await server.connectSocket();
    const answer = received(refused);
    requestConnect(refused, '10.0.0.1:80');
    assert.match((await answer).toString(), /^HTTP\/1\.1 503 .*too many open files.*limit of 1024/s);
    const frontend = server.frontend();
    frontend.send(dialRequest(7n, '10.0.0.1:80'));
    assert.match((await frontend.next(PacketType.DIAL_RSP)).error, /too many open files/);
    source.open = 100;
    source.nowMs += 2_000;
    const taken = await server.connectSocket();
    requestConnect(taken, '10.0.0.1:80');
    agent.send(dialResponse((await agent.next(PacketType.DIAL_REQ)).dialId, 1));
    assert.match(await readHead(taken), /^HTTP\/1\.1 200 /);
  } finally {
    await server.close();
  }
});
