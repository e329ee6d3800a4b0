import assert from 'node:assert/strict';
import { it } from 'node:test';
import { PacketType } from '../../src/proxy/wire/packet.ts';
import { closeResponse, dialRequest, dialResponse, drain } from '../../src/proxy/wire/packets.ts';
import { ScriptedStream } from '../peers/scripted-stream.ts';
import { until } from '../peers/sockets-left.ts';
import { TestServer } from '../peers/test-server.ts';

const DIALS = 1_000;
const AT_ONCE = 20;

/** Answers every dial, echoes, and answers closes. */
function serves(agent: ScriptedStream): void {
  let last = 0;
  agent.onPacket = (packet) => {
    if (packet.type === PacketType.DIAL_REQ) agent.send(dialResponse(packet.dialId, ++last));
    if (packet.type === PacketType.DATA) agent.stream.sendData(packet.connectId, packet.data);
    if (packet.type === PacketType.CLOSE_REQ && packet.connectId < Number.MAX_SAFE_INTEGER) {
      agent.send(closeResponse(packet.connectId));
    }
  };
}

it('a Go agent that opens second streams and closes them at once loses no dial and no tunnel, also while it drains', async () => {
  const server = await TestServer.start();
  const { counters } = server.server;
  const agent = await server.agent('go', { kind: 'go' });
  serves(agent);
  const client = server.agentClient();
  let syncing = true;
  let seconds = 0;
  const syncForever = async (): Promise<void> => {
    while (syncing) {
      const { stream } = await server.connect('go', { kind: 'go' }, client);
      const second = new ScriptedStream(stream);
      second.stream.end();
      await second.ended;
      seconds++;
    }
  };
  const syncs = syncForever();
  let left = DIALS;
  const dials = async (): Promise<void> => {
    while (left-- > 0) {
      if (left === DIALS / 2) agent.send(drain());
      const id = BigInt(left + 1);
      const frontend = server.frontend();
      frontend.send(dialRequest(id, '10.0.0.1:80'));
      const answer = await frontend.next(PacketType.DIAL_RSP);
      assert.equal(answer.error, '');
      frontend.stream.sendData(answer.connectId, Buffer.from(`hello ${id}`));
      assert.equal((await frontend.next(PacketType.DATA)).data.toString(), `hello ${id}`);
      frontend.stream.abort(1, 'done');
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, dials));
  syncing = false;
  await syncs;
  assert.ok(seconds > 10, `${seconds} second streams`);
  const told = [...server.server.events.newestFirst()].filter(({ type }) =>
    /^agent-(dis)?connected$/.test(type),
  );
  assert.equal(told.length, 1, 'second streams are no events');
  assert.equal(server.server.drain.sightings.of('go')?.connects, 1);
  await until(() => counters.establishedTunnels === 0, 'no tunnel left');
  assert.equal(counters.dialsSucceeded, DIALS);
  assert.equal(counters.closedTunnels.get('agent-lost') ?? 0, 0);
  await server.close();
});
