import {
  MalformedPacketError,
  pos,
  readBytes,
  readConnectId,
  readInt32,
  readInt64,
  readLength,
  readString,
  readTag,
  skip,
  startReading,
  stopReading,
} from './cursor.ts';
import { readOrderChangeField, readStatusField } from './decode-status.ts';
import { blankOrderChange, type OrderChange } from './order.ts';
import { blankStatus, FRAME_HEADER_BYTES, type Packet, PacketType, type Status } from './packet.ts';

const NO_BYTES = Buffer.alloc(0);
/** CloseRequest.abnormal: field 1000, a varint. */
export const ABNORMAL_TAG = 8000;

/**
 * Decodes one packet from a whole gRPC frame (prefix and message). Unknown fields and types are skipped, fields may
 * repeat (the last wins), and the type decides which payload counts. The packet's data and frame are views.
 * @throws MalformedPacketError also for a known type without its payload (an empty DRAIN excepted)
 */
export function decodeFrame(frame: Buffer): Packet {
  const packet = blankPacket(PacketType.DIAL_REQ);
  packet.frame = frame;
  startReading(frame, FRAME_HEADER_BYTES);
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
  stopReading();
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
    order: null,
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
    case PacketType.ORDER:
    case PacketType.STATUS:
    case PacketType.PING:
    case PacketType.PONG:
      return type;
    default:
      return 0;
  }
}

function isMember(field: number): boolean {
  return (field >= 2 && field <= 8) || (field >= 1000 && field <= 1005);
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
  packet.order = null;
}

function readMember(packet: Packet, member: number, end: number): void {
  if (member === PacketType.STATUS) packet.status = blankStatus();
  else if (member === PacketType.ORDER) packet.order = blankOrderChange();
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
      case PacketType.ORDER:
        readOrderChangeField(packet.order as OrderChange, tag, end);
        break;
      default:
        skip(tag, end, 0);
    }
  }
}
