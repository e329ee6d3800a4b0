import assert from 'node:assert/strict';
import { it } from 'node:test';
import { decodeMessage } from '../../src/proxy/admin/messages/decode-message.ts';
import { messageTable } from '../../src/proxy/admin/messages/table.ts';
import { AgentsBoard } from '../../src/proxy/admin/service/agents-board.ts';
import { defaultServerTimes } from '../../src/proxy/server/server-options.ts';
import { PacketType } from '../../src/proxy/wire/packet.ts';
import { pong } from '../../src/proxy/wire/packets.ts';
import { until } from '../peers/sockets-left.ts';
import { TestServer } from '../peers/test-server.ts';

it('watchers are told when the round trip of an agent is known, though nothing else of it changed', async (t) => {
  const { probe } = defaultServerTimes;
  const peers = await TestServer.start({ times: { probe: { ...probe, intervalMs: 1, suspectMs: 60_000 } } });
  t.after(() => peers.close());
  const agent = await peers.agent('a', { features: 'status,ping' });
  let question = 0;
  let answers = false;
  agent.onPacket = ({ type, amount }) => {
    if (type !== PacketType.PING) return;
    question = amount;
    if (answers) agent.send(pong(question));
  };
  const board = new AgentsBoard(peers.server);
  let told = 0;
  t.after(board.join({ changed: () => told++ }));
  const shown = (): Record<string, unknown> => {
    board.refresh();
    return decodeMessage(messageTable('Agent'), board.encoded('a')?.bytes ?? Buffer.alloc(0));
  };
  await until(() => (shown().streams as { state: string }[])[0]?.state === 'ready', 'ready');
  assert.equal(shown().roundTripSeconds, undefined);
  const before = told;
  answers = true;
  agent.send(pong(question));
  await until(() => shown().roundTripSeconds !== undefined, 'a round trip');
  assert.equal(told, before + 1);
  // Others are no news.
  const first = question;
  await until(() => {
    shown();
    return question > first + 3;
  }, 'more of them');
  assert.equal(told, before + 1);
});
