import { FRAME_HEADER_BYTES, NO_CONNECT_ID, type Packet, PacketType, type Status } from './packet.ts';

/** What arrived is not a packet. Ends that one stream (`malformed-packet`), nothing else. */
export class MalformedPacketError extends Error {
  override readonly name = 'MalformedPacketError';
}

const NO_BYTES = Buffer.alloc(0);
const MAX_GROUP_DEPTH = 32;
/** CloseRequest.abnormal: field 1000, a varint. */
export const ABNORMAL_TAG = 8000;

// One packet is decoded at a time and decoding never yields, so the cursor lives in module variables: the hot
// loop then allocates nothing but the packet.
let buf: Buffer = NO_BYTES;
let pos = 0;

/**
 * Decodes one packet from a whole gRPC frame (prefix and message). Unknown fields and types are skipped, fields may
 * repeat (the last wins), and the type decides which payload counts. The packet's data and frame are views.
 * @throws MalformedPacketError also for a known type without its payload (an empty DRAIN excepted)
 */
export function decodeFrame(frame: Buffer): Packet {
  const packet = blankPacket(PacketType.DIAL_REQ);
  packet.frame = frame;
  buf = frame;
  pos = FRAME_HEADER_BYTES;
  const end = frame.length;
  let type = 0;
  let member = 0;
  while (pos < end) {
    const tag = readTag(end);
    const field = tag >>> 3;
    if (tag === 8) {
      type = readInt32(end);
    } else if ((tag & 7) === 2 && isMember(field)) {
      const memberEnd = readLength(end);
      // A oneof keeps its last member, and a repeated member replaces the earlier one.
      if (member !== 0) clearPayload(packet);
      member = field;
      readMember(packet, field, memberEnd);
    } else {
      skip(tag, end, 0);
    }
  }
  packet.type = type;
  if (member !== memberOf(type)) checkMissing(packet, type);
  buf = NO_BYTES;
  return packet;
}

/** A packet of the given type with every other field at its zero value. */
export function blankPacket(type: number): Packet {
  return {
    type,
    protocol: '',
    address: '',
    dialId: 0n,
    connectId: 0,
    error: '',
    data: NO_BYTES,
    amount: 0,
    status: null,
    frame: NO_BYTES,
  };
}

/** The oneof member that carries a type's payload; 0 for types this version does not know. */
export function memberOf(type: number): number {
  switch (type) {
    case PacketType.DATA:
      return 4;
    case PacketType.DIAL_REQ:
      return 2;
    case PacketType.DIAL_RSP:
      return 3;
    case PacketType.CLOSE_REQ:
      return 5;
    case PacketType.CLOSE_RSP:
      return 6;
    case PacketType.DIAL_CLS:
      return 7;
    case PacketType.DRAIN:
      return 8;
    case PacketType.WINDOW:
    case PacketType.HALF_CLOSE:
    case PacketType.STATUS:
    case PacketType.PING:
    case PacketType.PONG:
      return type;
    default:
      return 0;
  }
}

function isMember(field: number): boolean {
  return (field >= 2 && field <= 8) || (field >= 1000 && field <= 1005 && field !== PacketType.ORDER);
}

function checkMissing(packet: Packet, type: number): void {
  clearPayload(packet);
  if (memberOf(type) !== 0 && type !== PacketType.DRAIN) {
    throw new MalformedPacketError(`packet of type ${type} without its payload`);
  }
}

function clearPayload(packet: Packet): void {
  packet.protocol = '';
  packet.address = '';
  packet.dialId = 0n;
  packet.connectId = 0;
  packet.error = '';
  packet.data = NO_BYTES;
  packet.amount = 0;
  packet.status = null;
}

function readMember(packet: Packet, member: number, end: number): void {
  if (member === PacketType.STATUS) packet.status = blankStatus();
  while (pos < end) {
    const tag = readTag(end);
    switch (member) {
      case 4:
        if (tag === 26) packet.data = readBytes(end);
        else if (tag === 8) packet.connectId = readConnectId(end);
        else if (tag === 18) packet.error = readString(end);
        else skip(tag, end, 0);
        break;
      case 2:
        if (tag === 10) packet.protocol = readString(end);
        else if (tag === 18) packet.address = readString(end);
        else if (tag === 24) packet.dialId = readInt64(end);
        else skip(tag, end, 0);
        break;
      case 3:
        if (tag === 10) packet.error = readString(end);
        else if (tag === 16) packet.connectId = readConnectId(end);
        else if (tag === 24) packet.dialId = readInt64(end);
        else skip(tag, end, 0);
        break;
      case 5:
        if (tag === 8) packet.connectId = readConnectId(end);
        else if (tag === ABNORMAL_TAG) packet.amount = readInt32(end) === 0 ? 0 : 1;
        else skip(tag, end, 0);
        break;
      case PacketType.HALF_CLOSE:
        if (tag === 8) packet.connectId = readConnectId(end);
        else skip(tag, end, 0);
        break;
      case 6:
        if (tag === 10) packet.error = readString(end);
        else if (tag === 16) packet.connectId = readConnectId(end);
        else skip(tag, end, 0);
        break;
      case 7:
        if (tag === 8) packet.dialId = readInt64(end);
        else skip(tag, end, 0);
        break;
      case PacketType.WINDOW:
        if (tag === 8) packet.connectId = readConnectId(end);
        else if (tag === 16) packet.amount = readConnectId(end);
        else skip(tag, end, 0);
        break;
      case PacketType.PING:
      case PacketType.PONG:
        if (tag === 8) packet.amount = readConnectId(end);
        else skip(tag, end, 0);
        break;
      case PacketType.STATUS:
        readStatusField(packet.status as Status, tag, end);
        break;
      default:
        skip(tag, end, 0);
    }
  }
}

function blankStatus(): Status {
  return { leaving: false, tunnels: 0, pendingDials: 0, serverIds: [], replacements: -1 };
}

/** A status names the servers of one agent: more than this many is not a fleet but an attack. */
const MAX_SERVER_IDS = 1000;

function readStatusField(status: Status, tag: number, end: number): void {
  if (tag === 8) status.leaving = readInt32(end) !== 0;
  else if (tag === 16) status.tunnels = readConnectId(end);
  else if (tag === 24) status.pendingDials = readConnectId(end);
  else if (tag === 34) {
    if (status.serverIds.length >= MAX_SERVER_IDS) throw new MalformedPacketError('too many server IDs');
    status.serverIds.push(readString(end));
  } else if (tag === 40) status.replacements = readConnectId(end);
  else skip(tag, end, 0);
}

function readTag(end: number): number {
  const tag = readInt32(end) >>> 0;
  if (tag >>> 3 === 0) throw new MalformedPacketError('field number 0');
  return tag;
}

/** A varint's low 32 bits, signed. */
function readInt32(end: number): number {
  let value = 0;
  for (let shift = 0; shift < 70; shift += 7) {
    if (pos >= end) throw new MalformedPacketError('varint cut off');
    const byte = buf[pos++] as number;
    if (shift < 32) value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  throw new MalformedPacketError('varint of more than 10 bytes');
}

// The halves of the varint read last: bits 0-31 and 32-63, unsigned.
let low = 0;
let high = 0;

function readVarint64(end: number): void {
  low = 0;
  high = 0;
  for (let shift = 0; shift < 70; shift += 7) {
    if (pos >= end) throw new MalformedPacketError('varint cut off');
    const byte = buf[pos++] as number;
    const bits = byte & 0x7f;
    if (shift < 28) low |= bits << shift;
    else if (shift === 28) {
      low |= bits << 28;
      high = bits >>> 4;
    } else high |= bits << (shift - 32);
    if (byte < 0x80) {
      low >>>= 0;
      high >>>= 0;
      return;
    }
  }
  throw new MalformedPacketError('varint of more than 10 bytes');
}

/** An int64 as a number; NO_CONNECT_ID when it is negative or does not fit. */
function readConnectId(end: number): number {
  // Nearly all connectIDs take one or two bytes.
  if (pos < end) {
    const first = buf[pos] as number;
    if (first < 0x80) {
      pos++;
      return first;
    }
  }
  readVarint64(end);
  return high < 0x200000 ? high * 0x100000000 + low : NO_CONNECT_ID;
}

function readInt64(end: number): bigint {
  readVarint64(end);
  return high === 0 ? BigInt(low) : BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low));
}

/** Reads a length and returns where the field ends. */
function readLength(end: number): number {
  readVarint64(end);
  if (high !== 0 || low > end - pos) throw new MalformedPacketError('length beyond the end of the message');
  return pos + low;
}

function readString(end: number): string {
  const stop = readLength(end);
  const text = buf.toString('utf8', pos, stop);
  pos = stop;
  return text;
}

function readBytes(end: number): Buffer {
  const stop = readLength(end);
  const bytes = buf.subarray(pos, stop);
  pos = stop;
  return bytes;
}

function skip(tag: number, end: number, depth: number): void {
  switch (tag & 7) {
    case 0:
      readInt32(end);
      return;
    case 1:
      advance(8, end);
      return;
    case 2:
      pos = readLength(end);
      return;
    case 3:
      skipGroup(tag >>> 3, end, depth + 1);
      return;
    case 5:
      advance(4, end);
      return;
    default:
      throw new MalformedPacketError(`wire type ${tag & 7}`);
  }
}

function skipGroup(field: number, end: number, depth: number): void {
  if (depth > MAX_GROUP_DEPTH) throw new MalformedPacketError('groups nested too deeply');
  for (;;) {
    const tag = readTag(end);
    if ((tag & 7) === 4) {
      if (tag >>> 3 !== field) throw new MalformedPacketError('group closed by another field');
      return;
    }
    skip(tag, end, depth);
  }
}

function advance(bytes: number, end: number): void {
  if (bytes > end - pos) throw new MalformedPacketError('field beyond the end of the message');
  pos += bytes;
}
