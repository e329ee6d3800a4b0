import { NO_CONNECT_ID } from './packet.ts';

/**
 * The cursor of the decoder. One packet is decoded at a time and decoding never yields, so it lives in module variables:
 * the hot loop then allocates nothing but the packet.
 */

/** What arrived is not a packet. Ends that one stream (`malformed-packet`), nothing else. */
export class MalformedPacketError extends Error {
  override readonly name = 'MalformedPacketError';
}

const NO_BYTES = Buffer.alloc(0);
const MAX_GROUP_DEPTH = 32;

let buf: Buffer = NO_BYTES;
/** Where the next byte is read. */
export let pos = 0;

/** Begins to read `bytes` at `at`. */
export function startReading(bytes: Buffer, at: number): void {
  buf = bytes;
  pos = at;
}

/** Lets go of the bytes. */
export function stopReading(): void {
  buf = NO_BYTES;
}

/** A field's number and wire type. */
export function readTag(end: number): number {
  const tag = readInt32(end) >>> 0;
  if (tag >>> 3 === 0) throw new MalformedPacketError('field number 0');
  return tag;
}

/** A varint's low 32 bits, signed. */
export function readInt32(end: number): number {
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
export function readConnectId(end: number): number {
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

/** An int64, signed. */
export function readInt64(end: number): bigint {
  readVarint64(end);
  return high === 0 ? BigInt(low) : BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low));
}

/** Reads a length and returns where the field ends. */
export function readLength(end: number): number {
  readVarint64(end);
  if (high !== 0 || low > end - pos) throw new MalformedPacketError('length beyond the end of the message');
  return pos + low;
}

/**
 * Text; what is no UTF-8 becomes U+FFFD.
 * @throws MalformedPacketError when it is longer than `mostBytes`
 */
export function readString(end: number, mostBytes = Number.POSITIVE_INFINITY): string {
  const stop = readLength(end);
  if (stop - pos > mostBytes) throw new MalformedPacketError(`a text of ${stop - pos} bytes`);
  const text = buf.toString('utf8', pos, stop);
  pos = stop;
  return text;
}

/** A view. */
export function readBytes(end: number): Buffer {
  const stop = readLength(end);
  const bytes = buf.subarray(pos, stop);
  pos = stop;
  return bytes;
}

/** Passes over the value of a field that nobody here knows. */
export function skip(tag: number, end: number, depth: number): void {
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
