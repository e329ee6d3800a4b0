import assert from 'node:assert/strict';
import { it } from 'node:test';
import { encodeDataFrame, encodeFrame } from '../../src/proxy/wire/encode.ts';
import { blankStatus, PacketType } from '../../src/proxy/wire/packet.ts';
import {
  closeDial,
  closeRequest,
  closeResponse,
  dialRequest,
  dialResponse,
  drain,
  endOrders,
  ping,
  pong,
  status,
  window,
} from '../../src/proxy/wire/packets.ts';
import { codeName, frameType, PacketTally } from '../../src/proxy/wire/stream-counts.ts';

it('the type of every frame that is sent is read from its first bytes', () => {
  const packets = [
    dialRequest(1n, 'a:1'),
    dialResponse(1n, 2),
    closeRequest(1),
    closeResponse(1, 'x'),
    closeDial(1n),
    drain(),
    window(1, 5),
    ping(1),
    pong(1),
    status(blankStatus()),
    endOrders(['a'], '', false),
  ];
  for (const packet of packets) assert.equal(frameType(encodeFrame(packet)), packet.type);
  assert.equal(frameType(encodeDataFrame(1, Buffer.from('x'))), PacketType.DATA);
});

it('the type of a frame that begins with its payload is that of the payload', () => {
  const types = [0, 1, 4, 2, 3, 5, 6];
  for (const [index, type] of types.entries()) {
    assert.equal(frameType(Buffer.from([0, 0, 0, 0, 2, ((index + 2) << 3) | 2, 0])), type);
  }
  assert.equal(frameType(Buffer.alloc(5)), PacketType.DIAL_REQ);
});

it('a tally knows upstream types, ours, and counts the rest together', () => {
  const tally = new PacketTally();
  for (const type of [0, 4, 4, 6, 7, 999, 1000, 1005, 1006, -1]) tally.add(type);
  assert.deepEqual(
    [...tally.entries()],
    [
      ['DIAL_REQ', 1],
      ['DATA', 2],
      ['DRAIN', 1],
      ['WINDOW', 1],
      ['PONG', 1],
      ['Unknown', 4],
    ],
  );
});

it('codes are named as Go prints them', () => {
  assert.deepEqual([1, 4, 14, 16, 99].map(codeName), [
    'Canceled',
    'DeadlineExceeded',
    'Unavailable',
    'Unauthenticated',
    'Code(99)',
  ]);
});
