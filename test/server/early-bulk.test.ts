import assert from 'node:assert/strict';
import { it } from 'node:test';
import { INITIAL_WINDOW_BYTES } from '../../src/proxy/wire/flow.ts';
import { PacketType } from '../../src/proxy/wire/packet.ts';
import { dialResponse, window } from '../../src/proxy/wire/packets.ts';
import { readHead, requestConnect } from '../peers/connect-request.ts';
import { TestServer } from '../peers/test-server.ts';

it('a destination that uses its whole first window within the hold is granted more behind it', async () => {
  const server = await TestServer.start({ times: { holdMs: 20 } });
  const agent = await server.agent('a');
  const socket = await server.connectSocket();
  requestConnect(socket, '10.0.0.1:80');
  const request = await agent.next(PacketType.DIAL_REQ);
  agent.send(dialResponse(request.dialId, 1));
  for (let sent = 0; sent < INITIAL_WINDOW_BYTES; sent += 32_768) {
    agent.stream.sendData(1, Buffer.alloc(32_768));
  }
  agent.send(window(1, 0));
  await readHead(socket);
  socket.resume();
  const grant = await agent.packets.next(
    (p) => p.type === PacketType.WINDOW && p.connectId === 1 && p.amount > 0,
  );
  assert.equal(grant.connectId, 1);
  await server.close();
});
