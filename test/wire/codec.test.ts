import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { MalformedPacketError } from '../../src/proxy/wire/cursor.ts';
import { blankPacket, decodeFrame, memberOf } from '../../src/proxy/wire/decode.ts';
import { encodeDataFrame, encodeFrame } from '../../src/proxy/wire/encode.ts';
import { isOrderId, type OrderChange, type WireOrder } from '../../src/proxy/wire/order.ts';
import {
  blankStatus,
  FRAME_HEADER_BYTES,
  NO_CONNECT_ID,
  type Packet,
  PacketType,
  type Status,
} from '../../src/proxy/wire/packet.ts';
import { endOrders, placeOrder, status as statusPacket } from '../../src/proxy/wire/packets.ts';

const Wire = protobuf.loadSync('proto/tunnel.proto').lookupType('Packet');
const MAX_SAFE = Number.MAX_SAFE_INTEGER;

/** How protobufjs shows a message here: int64 as decimal strings, absent fields as their defaults. */
interface Shown {
  type: number;
  payload?: string;
}

function reference(frame: Buffer): Shown {
  const message = Wire.decode(frame.subarray(FRAME_HEADER_BYTES));
  return Wire.toObject(message, { longs: String, defaults: true, oneofs: true, arrays: true }) as Shown;
}

/** A frame around the message that protobufjs makes of `value`; int64 are given as decimal strings. */
function referenceFrame(value: object): Buffer {
  return framed(Wire.encode(Wire.fromObject(value)).finish());
}

function framed(message: Uint8Array): Buffer {
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, FRAME_HEADER_BYTES);
  return frame;
}

/** Our packet as protobufjs shows the same thing. */
function shown(packet: Packet): object {
  const { type, address, protocol, error } = packet;
  const connectID = String(packet.connectId);
  const random = String(packet.dialId);
  const amount = String(packet.amount);
  switch (type) {
    case PacketType.DIAL_REQ:
      return { type, dialRequest: { protocol, address, random }, payload: 'dialRequest' };
    case PacketType.DIAL_RSP:
      return { type, dialResponse: { error, connectID, random }, payload: 'dialResponse' };
    case PacketType.CLOSE_REQ:
      return { type, closeRequest: { connectID, abnormal: packet.amount === 1 }, payload: 'closeRequest' };
    case PacketType.CLOSE_RSP:
      return { type, closeResponse: { error, connectID }, payload: 'closeResponse' };
    case PacketType.DATA:
      return { type, data: { connectID, error, data: packet.data }, payload: 'data' };
    case PacketType.DIAL_CLS:
      return { type, closeDial: { random }, payload: 'closeDial' };
    case PacketType.DRAIN:
      return { type, drain: {}, payload: 'drain' };
    case PacketType.WINDOW:
      return { type, window: { connectID, bytes: amount }, payload: 'window' };
    case PacketType.HALF_CLOSE:
      return { type, halfClose: { connectID }, payload: 'halfClose' };
    case PacketType.PING:
      return { type, ping: { number: amount }, payload: 'ping' };
    case PacketType.PONG:
      return { type, pong: { number: amount }, payload: 'pong' };
    case PacketType.STATUS:
      return { type, status: shownStatus(packet.status as Status), payload: 'status' };
    case PacketType.ORDER:
      return { type, order: shownChange(packet.order as OrderChange), payload: 'order' };
    default:
      throw new RangeError(`type ${type}`);
  }
}

function shownStatus(status: Status): object {
  const { serverIds, replacements, order, ...rest } = status;
  return {
    ...rest,
    tunnels: String(status.tunnels),
    pendingDials: String(status.pendingDials),
    orderNumber: String(status.orderNumber),
    serverIDs: serverIds,
    order: order === null ? null : shownOrder(order),
    ...(replacements < 0 ? {} : { replacements: String(replacements), _replacements: 'replacements' }),
  };
}

function shownChange(change: OrderChange): object {
  return { ...change, order: change.order === null ? null : shownOrder(change.order) };
}

function shownOrder(order: WireOrder): object {
  const { deadlineInMs, ...rest } = order;
  return {
    ...rest,
    version: String(order.version),
    sinceUnixMs: String(order.sinceUnixMs),
    ...(deadlineInMs < 0 ? {} : { deadlineInMs: String(deadlineInMs), _deadlineInMs: 'deadlineInMs' }),
  };
}

const connectId = fc.oneof(fc.nat(300), fc.integer({ min: 0, max: MAX_SAFE }), fc.constant(MAX_SAFE));
const dialId = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(0n, 1n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, 2n ** 32n, 0xffff_ffffn),
);
const text = fc.string({ unit: 'binary', maxLength: 300 });
const bytes = fc.uint8Array({ maxLength: 40_000 }).map((array) => Buffer.from(array));
const encodable = fc.constantFrom(...Object.values(PacketType));
/** Of at most 1,020 bytes. */
const shortText = fc.string({ unit: 'binary', maxLength: 255 });
const orderId = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);
const orders: fc.Arbitrary<WireOrder> = fc.record({
  id: orderId,
  version: fc.oneof(fc.integer({ min: 1, max: 300 }), fc.constant(MAX_SAFE)),
  actor: shortText,
  actorClaimed: fc.boolean(),
  reason: shortText,
  sinceUnixMs: fc.integer({ min: 0, max: 8.64e15 }),
  deadlineInMs: fc.oneof(fc.constant(-1), fc.constant(0), connectId),
  close: fc.boolean(),
  untilRestart: fc.boolean(),
});
const ended = fc.array(orderId, { maxLength: 64 });
const changes: fc.Arbitrary<OrderChange> = fc.record({
  order: fc.option(orders),
  ended,
  endedBy: shortText,
  endedByClaimed: fc.boolean(),
});
const statuses: fc.Arbitrary<Status> = fc.record({
  leaving: fc.boolean(),
  tunnels: connectId,
  pendingDials: connectId,
  serverIds: fc.array(text, { maxLength: 5 }),
  replacements: fc.oneof(fc.constant(-1), fc.nat(1000)),
  orderNumber: connectId,
  order: fc.option(orders),
  endedOrders: ended,
  stillDraining: fc.array(text, { maxLength: 5 }),
});

/** Packets of every type, with only those fields set that their type carries. */
const packets: fc.Arbitrary<Packet> = fc
  .record({
    type: encodable,
    protocol: text,
    address: text,
    dialId,
    connectId,
    error: text,
    data: bytes,
    amount: connectId,
    status: statuses,
    order: changes,
  })
  .map((all) => {
    const packet = blankPacket(all.type);
    const fields: Partial<Record<number, (keyof typeof all)[]>> = {
      [PacketType.DIAL_REQ]: ['protocol', 'address', 'dialId'],
      [PacketType.DIAL_RSP]: ['error', 'connectId', 'dialId'],
      [PacketType.CLOSE_REQ]: ['connectId'],
      [PacketType.CLOSE_RSP]: ['error', 'connectId'],
      [PacketType.DATA]: ['connectId', 'data'],
      [PacketType.DIAL_CLS]: ['dialId'],
      [PacketType.WINDOW]: ['connectId', 'amount'],
      [PacketType.HALF_CLOSE]: ['connectId'],
      [PacketType.PING]: ['amount'],
      [PacketType.PONG]: ['amount'],
      [PacketType.STATUS]: ['status'],
      [PacketType.ORDER]: ['order'],
    };
    for (const field of fields[all.type] ?? []) Object.assign(packet, { [field]: all[field] });
    return packet;
  });

const anOrder: WireOrder = {
  id: 'k3xw',
  version: 1,
  actor: 'ada@example.org',
  actorClaimed: false,
  reason: 'kernel',
  sinceUnixMs: 0,
  deadlineInMs: -1,
  close: false,
  untilRestart: false,
};
const runs = { numRuns: 1500 };

describe('the packet codec', () => {
  test('writes what protobufjs reads', () => {
    fc.assert(
      fc.property(packets, (packet) => {
        const frame = encodeFrame(packet);
        assert.equal(frame[0], 0);
        assert.equal(frame.readUInt32BE(1), frame.length - FRAME_HEADER_BYTES);
        assert.deepEqual({ ...reference(frame) }, shown(packet));
      }),
      runs,
    );
  });

  test('reads what protobufjs writes', () => {
    fc.assert(
      fc.property(packets, (packet) => {
        const frame = referenceFrame(shown(packet));
        assert.deepEqual(decodeFrame(frame), { ...packet, frame });
      }),
      runs,
    );
  });

  test('reads what it wrote itself', () => {
    fc.assert(
      fc.property(packets, (packet) => {
        const frame = encodeFrame(packet);
        assert.deepEqual(decodeFrame(frame), { ...packet, frame });
      }),
      runs,
    );
  });

  test('writes DATA in one way', () => {
    fc.assert(
      fc.property(connectId, bytes, (id, data) => {
        const packet = { ...blankPacket(PacketType.DATA), connectId: id, data };
        assert.deepEqual(encodeDataFrame(id, data), encodeFrame(packet));
      }),
      runs,
    );
  });

  test('cuts the texts of an order where receivers have their bound, and no character in half', () => {
    const order = { ...anOrder, actor: 'é'.repeat(600), reason: `${'a'.repeat(1023)}€` };
    const read = decodeFrame(encodeFrame(placeOrder(order))).order?.order;
    assert.equal(read?.actor, 'é'.repeat(512));
    assert.equal(read?.reason, 'a'.repeat(1023));
    const ended = decodeFrame(encodeFrame(endOrders(['x'], '😀'.repeat(300), true))).order;
    assert.equal(ended?.endedBy, '😀'.repeat(256));
    const long = 'z'.repeat(1 << 20);
    const status = { ...blankStatus(), order: { ...anOrder, reason: long } };
    assert.equal(decodeFrame(encodeFrame(statusPacket(status))).status?.order?.reason.length, 1024);
  });

  test('rounds a remaining time up: what is not over is not said to be', () => {
    const frame = encodeFrame(placeOrder({ ...anOrder, deadlineInMs: 0.2 }));
    assert.equal(decodeFrame(frame).order?.order?.deadlineInMs, 1);
  });

  test('takes a time that no Date can hold for none', () => {
    for (const sinceUnixMs of ['-1', '8640000000000001', '9223372036854775807']) {
      const frame = referenceFrame({ type: 1002, order: { order: { id: 'a', version: 1, sinceUnixMs } } });
      assert.equal(decodeFrame(frame).order?.order?.sinceUnixMs, 0);
    }
    const negative = { order: { order: { id: 'a', version: 1, deadlineInMs: '-5' } } };
    assert.equal(decodeFrame(referenceFrame({ type: 1002, ...negative })).order?.order?.deadlineInMs, -1);
  });

  for (const [what, order] of [
    ['without ID', { version: 1 }],
    ['without version', { id: 'a' }],
    ['of a negative version', { id: 'a', version: '-1' }],
    ['with an ID of 65 characters', { id: 'a'.repeat(65), version: 1 }],
    ['with an ID of other characters', { id: 'a b', version: 1 }],
    ['with a reason of 1,025 bytes', { id: 'a', version: 1, reason: 'a'.repeat(1025) }],
    ['with an actor of 1,025 bytes', { id: 'a', version: 1, actor: 'a'.repeat(1025) }],
  ] as const) {
    test(`takes an order ${what} for malformed`, () => {
      const changed = referenceFrame({ type: 1002, order: { order } });
      assert.throws(() => decodeFrame(changed), MalformedPacketError);
      assert.throws(
        () => decodeFrame(referenceFrame({ type: 1003, status: { order } })),
        MalformedPacketError,
      );
    });
  }

  test('takes more than 64 ended orders for malformed, and sends the newest 64', () => {
    const ids = Array.from({ length: 65 }, (_, i) => `id-${i}`);
    for (const value of [
      { type: 1002, order: { ended: ids } },
      { type: 1003, status: { endedOrders: ids } },
      { type: 1003, status: { endedOrders: ['not one'] } },
      { type: 1002, order: { ended: [''] } },
    ]) {
      assert.throws(() => decodeFrame(referenceFrame(value)), MalformedPacketError);
    }
    const status = decodeFrame(encodeFrame(statusPacket({ ...blankStatus(), endedOrders: ids }))).status;
    assert.deepEqual(status?.endedOrders, ids.slice(1));
    assert.deepEqual(decodeFrame(encodeFrame(endOrders(ids, '', false))).order?.ended, ids.slice(1));
  });

  test('knows what can be the ID of an order', () => {
    assert.deepEqual(['a', 'Z_-9', 'a'.repeat(64)].map(isOrderId), [true, true, true]);
    assert.deepEqual(['', 'a b', 'ä', 'a\n', 'a'.repeat(65)].map(isOrderId), Array(5).fill(false));
  });

  test('takes an int64 connectID that nobody can have been given for none', () => {
    for (const connectID of ['-1', '-9223372036854775808', '9223372036854775807', '9007199254740992']) {
      const frame = referenceFrame({ type: PacketType.DATA, data: { connectID } });
      assert.equal(decodeFrame(frame).connectId, NO_CONNECT_ID, connectID);
    }
    const most = referenceFrame({ type: PacketType.DATA, data: { connectID: '9007199254740991' } });
    assert.equal(decodeFrame(most).connectId, MAX_SAFE);
  });

  test('makes no other packet of one with unknown fields', () => {
    const unknown = fc.oneof(
      fc
        .tuple(fc.integer({ min: 9, max: 999 }), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }))
        .map(([f, n]) => {
          return protobuf.Writer.create()
            .uint32((f << 3) | 0)
            .uint64(longOf(n))
            .finish();
        }),
      fc.tuple(fc.integer({ min: 2000, max: 536_870_911 }), bytes).map(([f, b]) => {
        return protobuf.Writer.create()
          .uint32(((f << 3) | 2) >>> 0)
          .bytes(b)
          .finish();
      }),
      fc.integer({ min: 9, max: 999 }).map((f) =>
        protobuf.Writer.create()
          .uint32((f << 3) | 5)
          .fixed32(7)
          .finish(),
      ),
      fc.integer({ min: 9, max: 999 }).map((f) =>
        protobuf.Writer.create()
          .uint32((f << 3) | 1)
          .double(7)
          .finish(),
      ),
      // A group with a varint in it.
      fc.integer({ min: 9, max: 999 }).map((f) =>
        protobuf.Writer.create()
          .uint32((f << 3) | 3)
          .uint32(8)
          .uint32(1)
          .uint32((f << 3) | 4)
          .finish(),
      ),
    );
    fc.assert(
      fc.property(packets, unknown, unknown, (packet, before, behind) => {
        const frame = framed(
          Buffer.concat([before, encodeFrame(packet).subarray(FRAME_HEADER_BYTES), behind]),
        );
        assert.deepEqual(decodeFrame(frame), { ...packet, frame });
      }),
      { numRuns: 500 },
    );
  });

  test('skips unknown fields within the payload', () => {
    const inner = protobuf.Writer.create()
      .uint32(8)
      .uint32(5)
      .uint32(98)
      .string('new')
      .uint32(72)
      .uint32(1)
      .finish();
    const frame = framed(protobuf.Writer.create().uint32(8).uint32(4).uint32(34).bytes(inner).finish());
    assert.equal(decodeFrame(frame).connectId, 5);
  });

  test('passes packets of types from the future, whatever they carry', () => {
    for (const type of [7, 9, 999, 1006, 2 ** 31 - 1]) {
      const bare = framed(protobuf.Writer.create().uint32(8).uint32(type).finish());
      assert.equal(decodeFrame(bare).type, type);
      const withData = referenceFrame({ type, data: { connectID: '4', data: Buffer.from('x') } });
      const packet = decodeFrame(withData);
      assert.deepEqual([packet.type, packet.connectId, packet.data.length], [type, 0, 0]);
    }
  });

  test('lets the last of repeated fields win', () => {
    const data = (connectID: number, payload: string): Uint8Array =>
      protobuf.Writer.create().uint32(8).uint32(connectID).uint32(26).string(payload).finish();
    const twice = Buffer.concat([data(1, 'first'), data(2, 'second')]);
    const frame = framed(
      protobuf.Writer.create().uint32(8).uint32(0).uint32(8).uint32(4).uint32(34).bytes(twice).finish(),
    );
    const packet = decodeFrame(frame);
    assert.deepEqual([packet.type, packet.connectId, packet.data.toString()], [4, 2, 'second']);
  });

  test('keeps the last member of the oneof', () => {
    const request = encodeFrame({ ...blankPacket(PacketType.DIAL_REQ), address: 'a:1', dialId: 3n });
    const close = encodeFrame({ ...blankPacket(PacketType.CLOSE_REQ), connectId: 9 });
    const frame = framed(Buffer.concat([request, close].map((one) => one.subarray(FRAME_HEADER_BYTES))));
    assert.deepEqual(decodeFrame(frame), { ...blankPacket(PacketType.CLOSE_REQ), connectId: 9, frame });
  });

  test('lets the type decide over the member that is there', () => {
    for (const type of Object.values(PacketType).filter((one) => memberOf(one) !== 0)) {
      const other =
        type === PacketType.DATA ? { closeRequest: { connectID: '4' } } : { data: { connectID: '4' } };
      const frame = referenceFrame({ type, ...other });
      if (type === PacketType.DRAIN) assert.equal(decodeFrame(frame).connectId, 0);
      else assert.throws(() => decodeFrame(frame), MalformedPacketError, String(type));
    }
  });

  test('takes a packet without its payload for malformed, an empty DRAIN excepted', () => {
    for (const type of Object.values(PacketType).filter((one) => memberOf(one) !== 0)) {
      const frame = framed(protobuf.Writer.create().uint32(8).uint32(type).finish());
      if (type === PacketType.DRAIN) assert.equal(decodeFrame(frame).type, PacketType.DRAIN);
      else assert.throws(() => decodeFrame(frame), MalformedPacketError, String(type));
    }
    assert.throws(() => decodeFrame(framed(Buffer.alloc(0))), MalformedPacketError);
  });

  test('throws nothing but MalformedPacketError, and looks at nothing outside its input', () => {
    const mutated = fc
      .tuple(packets, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }), fc.nat(60))
      .map(([packet, changes, cut]) => {
        const message = Buffer.from(
          encodeFrame({ ...packet, data: packet.data.subarray(0, 60) }).subarray(FRAME_HEADER_BYTES),
        );
        for (const [at, value] of changes) message[at % message.length] = value;
        return cut > 30 ? message : message.subarray(0, Math.max(0, message.length - cut));
      });
    const random = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array));
    fc.assert(
      fc.property(fc.oneof(random, mutated), (message) => {
        // Surrounded by other bytes, as a frame is in the chunk that it came in.
        const around = Buffer.alloc(message.length + FRAME_HEADER_BYTES + 20, 8);
        const frame = around.subarray(10, around.length - 10);
        frame.set(framed(message));
        let packet: Packet;
        try {
          packet = decodeFrame(frame);
        } catch (error) {
          assert.equal(error instanceof MalformedPacketError, true, String(error));
          return;
        }
        if (packet.data.length > 0) {
          const start = packet.data.byteOffset - frame.byteOffset;
          assert.equal(packet.data.buffer, frame.buffer);
          assert.equal(start >= FRAME_HEADER_BYTES && start + packet.data.length <= frame.length, true);
        }
        for (const number of [packet.connectId, packet.amount]) {
          assert.equal(Number.isSafeInteger(number) && number >= -1, true);
        }
        assert.equal(packet.dialId, BigInt.asIntN(64, packet.dialId));
      }),
      { numRuns: 30_000, interruptAfterTimeLimit: 6_000 },
    );
  });

  test('lets the last of several packets in one message win', () => {
    fc.assert(
      fc.property(packets, packets, (first, last) => {
        const explicitType = protobuf.Writer.create().uint32(8).uint32(last.type).finish();
        const messages = [first, last].map((one) => encodeFrame(one).subarray(FRAME_HEADER_BYTES));
        const frame = framed(Buffer.concat([...messages, explicitType]));
        // A repeated member replaces the earlier one as a whole: what it leaves out is zero again.
        assert.deepEqual(decodeFrame(frame), { ...last, frame });
      }),
      { numRuns: 500 },
    );
  });
});

function longOf(value: bigint): protobuf.Long {
  return protobuf.util.LongBits.from(value.toString() as unknown as number).toLong(true) as protobuf.Long;
}
