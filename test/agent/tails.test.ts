import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { defaultBufferBounds } from '../../src/proxy/wire/buffers.ts';
import { closeRequest } from '../../src/proxy/wire/packets.ts';
import { agentCase, goServer } from '../peers/agent-case.ts';
import { readAll } from '../peers/destination-server.ts';
import { until } from '../peers/sockets-left.ts';

const MIB = 1024 * 1024;

test('a destination that pauses behind the end of its tunnel gets every byte, when others were cut long ago', () =>
  agentCase(
    async ({ connect, destination, agent }) => {
      const upload = async (abnormal: boolean): Promise<[Buffer, Socket]> => {
        const id = await connect.open(destination.address);
        const socket = await destination.accepted.next();
        const sent = randomBytes(8 * MIB);
        for (let at = 0; at < sent.length; at += 65_536) connect.data(id, sent.subarray(at, at + 65_536));
        connect.send(closeRequest(id, abnormal));
        await connect.closed(id);
        return [sent, socket];
      };
      const [sent, paused] = await upload(false);
      // How long the pause is, those tell whose clients broke off.
      for (let cuts = 0; cuts < 3; cuts++) {
        await upload(true);
        await agent.logged('Dropped what a destination did not take');
        await until(() => agent.agent.counts.openEndpoints === 1, 'the cut');
      }
      assert.ok((await readAll(paused)).equals(sent));
      paused.end();
    },
    { features: 'ping,status,half-close' },
    { times: { lingerMs: 20 } },
  ));

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

test('an agent that leaves does not wait long for a destination that takes nothing, and says what it dropped', () =>
  agentCase(
    async ({ connect, destination, agent }) => {
      const id = await connect.open(destination.address);
      for (let i = 0; i < 200; i++) connect.data(id, Buffer.alloc(65_536));
      connect.send(closeRequest(id));
      await connect.closed(id);
      agent.agent.leave();
      assert.equal(await agent.ended, 'left');
      assert.match(await agent.logged('Dropped what a destination did not take'), /why="agent-ended"/);
    },
    goServer,
    { times: { lingerMs: 20, leaveLingerMs: 5 } },
  ));

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
      assert.match(await agent.logged('Dropped what a destination did not take'), /why="budget"/);
      assert.ok(agent.agent.buffers.heldBytes <= 12 * MIB);
    },
    goServer,
    { bounds: { ...defaultBufferBounds, budgetBytes: 12 * MIB } },
  ));
