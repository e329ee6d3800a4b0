import { ABNORMAL_TAG, memberOf } from './decode.ts';
import { MOST_ENDED_ORDERS, MOST_ORDER_TEXT_BYTES, type OrderChange, type WireOrder } from './order.ts';
import { FRAME_HEADER_BYTES, type Packet, PacketType, type Status } from './packet.ts';

/**
 * Encodes one packet as a whole gRPC frame: prefix (not compressed, length) and message. Zero values are left out,
 * as proto3 does; the payload's member is always written, also when it is empty.
 */
export function encodeFrame(packet: Packet): Buffer {
  if (packet.type === PacketType.DATA) return encodeDataFrame(packet.connectId, packet.data);
  const body: number[] = [];
  const payload = encodePayload(packet);
  if (packet.type !== 0) {
    body.push(8);
    pushVarint(body, packet.type);
  }
  pushVarint(body, ((memberOf(packet.type) << 3) | 2) >>> 0);
  pushVarint(body, payload.length);
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + body.length + payload.length);
  frame[0] = 0;
  frame.writeUInt32BE(body.length + payload.length, 1);
  frame.set(body, FRAME_HEADER_BYTES);
  frame.set(payload, FRAME_HEADER_BYTES + body.length);
  return frame;
}

/** A DATA frame for `chunk`, copied once. */
export function encodeDataFrame(connectId: number, chunk: Uint8Array): Buffer {
  const head = encodeDataHead(connectId, chunk.length);
  const frame = Buffer.allocUnsafe(head.length + chunk.length);
  frame.set(head, 0);
  frame.set(chunk, head.length);
  return frame;
}

/** Everything of a DATA frame that comes before its payload: what is large need not be copied to be sent. */
export function encodeDataHead(connectId: number, payloadBytes: number): Buffer {
  const idBytes = connectId === 0 ? 0 : 1 + varintBytes(connectId);
  const dataBytes = payloadBytes === 0 ? 0 : 1 + varintBytes(payloadBytes);
  const member = idBytes + dataBytes + payloadBytes;
  const message = 3 + varintBytes(member) + member;
  const head = Buffer.allocUnsafe(FRAME_HEADER_BYTES + message - payloadBytes);
  head[0] = 0;
  head[1] = message >>> 24;
  head[2] = message >>> 16;
  head[3] = message >>> 8;
  head[4] = message;
  head[5] = 8;
  head[6] = PacketType.DATA;
  head[7] = 34;
  let at = writeVarint(head, 8, member);
  if (idBytes !== 0) {
    head[at++] = 8;
    at = writeVarint(head, at, connectId);
  }
  if (dataBytes !== 0) {
    head[at++] = 26;
    writeVarint(head, at, payloadBytes);
  }
  return head;
}

function varintBytes(value: number): number {
  let bytes = 1;
  while (value >= 0x80) {
    value = Math.floor(value / 0x80);
    bytes++;
  }
  return bytes;
}

function writeVarint(into: Buffer, at: number, value: number): number {
  while (value >= 0x80) {
    into[at++] = (value % 0x80) | 0x80;
    value = Math.floor(value / 0x80);
  }
  into[at++] = value;
  return at;
}

function encodePayload(packet: Packet): number[] {
  const out: number[] = [];
  switch (packet.type) {
    case PacketType.DIAL_REQ:
      pushString(out, 10, packet.protocol);
      pushString(out, 18, packet.address);
      pushInt64(out, 24, packet.dialId);
      break;
    case PacketType.DIAL_RSP:
      pushString(out, 10, packet.error);
      pushNumber(out, 16, packet.connectId);
      pushInt64(out, 24, packet.dialId);
      break;
    case PacketType.CLOSE_REQ:
      pushNumber(out, 8, packet.connectId);
      if (packet.amount !== 0) {
        pushVarint(out, ABNORMAL_TAG);
        out.push(1);
      }
      break;
    case PacketType.HALF_CLOSE:
      pushNumber(out, 8, packet.connectId);
      break;
    case PacketType.CLOSE_RSP:
      pushString(out, 10, packet.error);
      pushNumber(out, 16, packet.connectId);
      break;
    case PacketType.DIAL_CLS:
      pushInt64(out, 8, packet.dialId);
      break;
    case PacketType.WINDOW:
      pushNumber(out, 8, packet.connectId);
      pushNumber(out, 16, packet.amount);
      break;
    case PacketType.PING:
    case PacketType.PONG:
      pushNumber(out, 8, packet.amount);
      break;
    case PacketType.STATUS:
      if (packet.status !== null) pushStatus(out, packet.status);
      break;
    case PacketType.ORDER:
      if (packet.order !== null) pushOrderChange(out, packet.order);
      break;
    case PacketType.DRAIN:
      break;
    default:
      throw new RangeError(`packet type ${packet.type} cannot be encoded`);
  }
  return out;
}

function pushStatus(out: number[], status: Status): void {
  pushNumber(out, 8, status.leaving ? 1 : 0);
  pushNumber(out, 16, status.tunnels);
  pushNumber(out, 24, status.pendingDials);
  for (const id of status.serverIds) pushString(out, 34, id, true);
  if (status.replacements >= 0) {
    out.push(40);
    pushVarint(out, status.replacements);
  }
  pushNumber(out, 48, status.orderNumber);
  if (status.order !== null) pushMessage(out, 58, orderBody(status.order));
  for (const id of status.endedOrders.slice(-MOST_ENDED_ORDERS)) pushString(out, 66, id, true);
  for (const id of status.stillDraining) pushString(out, 74, id, true);
}

function pushOrderChange(out: number[], change: OrderChange): void {
  if (change.order !== null) pushMessage(out, 10, orderBody(change.order));
  for (const id of change.ended.slice(-MOST_ENDED_ORDERS)) pushString(out, 18, id, true);
  pushText(out, 26, change.endedBy);
  pushNumber(out, 32, change.endedByClaimed ? 1 : 0);
}

function orderBody(order: WireOrder): number[] {
  const out: number[] = [];
  pushString(out, 10, order.id);
  pushNumber(out, 16, order.version);
  pushText(out, 26, order.actor);
  pushNumber(out, 32, order.actorClaimed ? 1 : 0);
  pushText(out, 42, order.reason);
  pushNumber(out, 48, Math.max(0, Math.floor(order.sinceUnixMs)));
  if (order.deadlineInMs >= 0) {
    out.push(56);
    // Rounded up, so that what is not over yet is not said to be.
    pushVarint(out, Math.ceil(order.deadlineInMs));
  }
  pushNumber(out, 64, order.close ? 1 : 0);
  pushNumber(out, 72, order.untilRestart ? 1 : 0);
  return out;
}

function pushNumber(out: number[], tag: number, value: number): void {
  if (value === 0) return;
  out.push(tag);
  pushVarint(out, value);
}

function pushVarint(out: number[], value: number): void {
  while (value >= 0x80) {
    out.push((value % 0x80) | 0x80);
    value = Math.floor(value / 0x80);
  }
  out.push(value);
}

function pushInt64(out: number[], tag: number, value: bigint): void {
  if (value === 0n) return;
  out.push(tag);
  let rest = BigInt.asUintN(64, value);
  while (rest >= 0x80n) {
    out.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  out.push(Number(rest));
}

function pushString(out: number[], tag: number, text: string, evenEmpty = false): void {
  if (text === '' && !evenEmpty) return;
  pushMessage(out, tag, Buffer.from(text, 'utf8'));
}

/** A text of an order: no more of it than receivers take, and no half character. */
function pushText(out: number[], tag: number, text: string): void {
  if (text === '') return;
  const bytes = Buffer.from(text.slice(0, MOST_ORDER_TEXT_BYTES), 'utf8');
  let end = Math.min(bytes.length, MOST_ORDER_TEXT_BYTES);
  while (end < bytes.length && ((bytes[end] as number) & 0xc0) === 0x80) end--;
  pushMessage(out, tag, bytes.subarray(0, end));
}

function pushMessage(out: number[], tag: number, bytes: ArrayLike<number> & Iterable<number>): void {
  out.push(tag);
  pushVarint(out, bytes.length);
  for (const byte of bytes) out.push(byte);
}
