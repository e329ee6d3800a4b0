import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultBufferBounds } from '../../src/proxy/wire/buffers.ts';
import { closeRequest } from '../../src/proxy/wire/packets.ts';
import { agentCase, goServer } from '../peers/agent-case.ts';
import { readAll } from '../peers/destination-server.ts';
import { until } from '../peers/sockets-left.ts';

const MIB = 1024 * 1024;

test('what waits for a destination behind the end of its tunnel counts as held until it is taken', () =>
  agentCase(async ({ connect, destination, agent }) => {
    const id = await connect.open(destination.address);
    const socket = await destination.accepted.next();
    for (let i = 0; i < 200; i++) connect.data(id, Buffer.alloc(65_536));
    connect.send(closeRequest(id));
    await connect.closed(id);
    assert.ok(agent.agent.buffers.heldBytes > 4 * MIB, `${agent.agent.buffers.heldBytes} bytes`);
    assert.equal((await readAll(socket)).length, 200 * 65_536);
    socket.end();
    await until(() => Math.abs(agent.agent.buffers.heldBytes) < 1, 'nothing held');
  }, goServer));

test('what waits for a destination behind the end of its tunnel is dropped when others need the room', () =>
  agentCase(
    async ({ connect, destination, agent }) => {
      const first = await connect.open(destination.address);
      for (let i = 0; i < 200; i++) connect.data(first, Buffer.alloc(65_536));
      connect.send(closeRequest(first));
      await connect.closed(first);
      const second = await connect.open(destination.address);
      for (let i = 0; i < 150; i++) connect.data(second, Buffer.alloc(65_536));
      await until(() => agent.agent.counts.openEndpoints === 1, 'the first is cut');
      assert.equal(agent.agent.status.tunnels, 1);
      assert.ok(agent.agent.buffers.heldBytes <= 12 * MIB);
    },
    goServer,
    { bounds: { ...defaultBufferBounds, budgetBytes: 12 * MIB } },
  ));
