import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Announcement } from '../../src/proxy/agent/announcement.ts';
import { decodeFrame } from '../../src/proxy/wire/decode.ts';
import { negotiate } from '../../src/proxy/wire/extension.ts';
import type { WireOrder } from '../../src/proxy/wire/order.ts';
import { blankStatus, type Packet, PacketType, type Status } from '../../src/proxy/wire/packet.ts';

const order: WireOrder = {
  id: 'k3xw',
  version: 1,
  actor: 'ada',
  actorClaimed: false,
  reason: '',
  sinceUnixMs: 1,
  deadlineInMs: -1,
  close: false,
  untilRestart: false,
};
const ordered: Status = { ...blankStatus(), orderNumber: 1, order };
const leaving: Status = { ...blankStatus(), leaving: true };

/** What a server of those features is sent. */
function told(features: string | undefined, ...states: Status[]): Packet[] {
  const sent: Packet[] = [];
  const announcement = new Announcement(negotiate(features), (frame) => sent.push(decodeFrame(frame)));
  for (const state of states) announcement.tell(state);
  return sent;
}

const types = (packets: Packet[]): number[] => packets.map((packet) => packet.type);

test('a server with `order` is sent the order in STATUS, and no DRAIN', () => {
  const sent = told('order,status', ordered);
  assert.deepEqual(types(sent), [PacketType.STATUS]);
  assert.deepEqual(sent[0]?.status, ordered);
});

test('that the time to a deadline goes down is no news, and a new order is', () => {
  const left = (deadlineInMs: number, orderNumber = 1): Status => ({
    ...ordered,
    orderNumber,
    order: { ...order, deadlineInMs },
  });
  const sent = told('order,status', left(900), left(800), left(0), left(700, 2));
  assert.deepEqual(
    sent.map((packet) => packet.status?.order?.deadlineInMs),
    [900, 700],
  );
});

test('a status that is sent for another reason has the time that remains then', () => {
  const later = { ...ordered, tunnels: 1, order: { ...order, deadlineInMs: 5 } };
  const sent = told('order,status', { ...ordered, order: { ...order, deadlineInMs: 9 } }, later);
  assert.equal(sent[1]?.status?.order?.deadlineInMs, 5);
});

test('a Go server is sent DRAIN once, whatever follows', () => {
  const sent = told(undefined, blankStatus(), ordered, blankStatus(), ordered, leaving);
  assert.deepEqual(types(sent), [PacketType.DRAIN]);
});

test('a server with `status` alone is sent DRAIN before STATUS, and nothing of orders in it', () => {
  const sent = told('status', { ...ordered, endedOrders: ['x'], stillDraining: ['go'], tunnels: 2 });
  assert.deepEqual(types(sent), [PacketType.DRAIN, PacketType.STATUS]);
  assert.deepEqual(sent[1]?.status, { ...blankStatus(), tunnels: 2 });
});

test('a server with `status` alone is told that the agent leaves by STATUS', () => {
  assert.deepEqual(types(told('status', leaving)), [PacketType.STATUS]);
});

test('`order` is in force with `status` only', () => {
  assert.deepEqual([...negotiate('order,ping')], ['ping']);
  assert.deepEqual([...negotiate('status,order')].sort(), ['order', 'status']);
});
