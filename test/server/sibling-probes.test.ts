import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { PacketType } from '../../src/proxy/wire/packet.ts';
import { dialFailure, dialRequest, pong } from '../../src/proxy/wire/packets.ts';
import { defaultProbeTimes } from '../../src/proxy/wire/probe.ts';
import type { ScriptedStream } from '../peers/scripted-stream.ts';
import { TestServer } from '../peers/test-server.ts';

let server: TestServer | undefined;

afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** Opens that many streams of one agent ID, which answer their probes at once. */
async function streams(count: number, urgentSuspectMs: number): Promise<ScriptedStream[]> {
  const times = { probe: { ...defaultProbeTimes, intervalMs: 3_600_000, urgentSuspectMs } };
  server = await TestServer.start({ times });
  const opened: ScriptedStream[] = [];
  for (let i = 0; i < count; i++) {
    const stream = await server.agent('a');
    stream.onPacket = (packet) => {
      if (packet.type === PacketType.PING) stream.send(pong(packet.amount));
    };
    opened.push(stream);
  }
  return opened;
}

it('many streams of one agent ID in a row cause one round of probes, not one for each', async () => {
  const opened = await streams(12, 3_600_000);
  await opened[0]?.next(PacketType.PING);
  const probes = opened.flatMap((one) => one.packets.all).filter(({ type }) => type === PacketType.PING);
  assert.equal(probes.length, 1);
});

it('a stream that came in a row of others is probed with the next round', async () => {
  const opened = await streams(3, 50);
  await Promise.all(opened.slice(0, 2).map((one) => one.next(PacketType.PING)));
});

it('when an agent connects anew and its old stream is silent, that is found at once and dials go to the new one', async () => {
  const times = {
    probe: { ...defaultProbeTimes, intervalMs: 3_600_000, urgentSuspectMs: 20, deadMs: 3_600_000 },
  };
  server = await TestServer.start({ times });
  const old = await server.agent('a');
  const fresh = await server.agent('a');
  await old.next(PacketType.PING);
  await server.logged('Agent is late');
  for (let id = 1n; id <= 5n; id++) {
    const one = server.frontend();
    one.send(dialRequest(id, '10.0.0.1:80'));
    assert.equal((await fresh.next(PacketType.DIAL_REQ)).dialId, id);
    fresh.send(dialFailure(id, 'refused'));
    await one.ended;
  }
  assert.ok(!old.packets.all.some(({ type }) => type === PacketType.DIAL_REQ));
});
