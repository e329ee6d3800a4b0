/**
 * As much of HTTP/2 (RFC 9113) as gRPC calls need. Written out here because any HTTP/2 library would cost more CPU than
 * what is measured.
 */

export const FrameType = {
  DATA: 0,
  HEADERS: 1,
  RST_STREAM: 3,
  SETTINGS: 4,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
} as const;

export const Flag = { ACK: 1, END_STREAM: 1, END_HEADERS: 4, PADDED: 8 } as const;

export const Setting = { INITIAL_WINDOW_SIZE: 4, MAX_FRAME_SIZE: 5 } as const;

export const FRAME_HEADER_BYTES = 9;
export const DEFAULT_WINDOW_BYTES = 65_535;
export const DEFAULT_MAX_FRAME_BYTES = 16_384;

/** The first stream of a connection that its client opens; the next ones go up by 2. */
export const FIRST_STREAM_ID = 1;

/** Writes a frame's header into `into` at 0 and returns it. */
export function writeHeader(
  into: Buffer,
  length: number,
  type: number,
  flags: number,
  streamId: number,
): Buffer {
  into[0] = length >>> 16;
  into[1] = length >>> 8;
  into[2] = length;
  into[3] = type;
  into[4] = flags;
  into.writeUInt32BE(streamId, 5);
  return into;
}

export function frame(type: number, flags: number, streamId: number, payload: Buffer): Buffer {
  const out = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payload.length);
  writeHeader(out, payload.length, type, flags, streamId);
  payload.copy(out, FRAME_HEADER_BYTES);
  return out;
}

export function windowUpdate(streamId: number, bytes: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(bytes);
  return frame(FrameType.WINDOW_UPDATE, 0, streamId, payload);
}

export function settings(values: Readonly<Record<number, number>>): Buffer {
  const entries = Object.entries(values);
  const payload = Buffer.alloc(entries.length * 6);
  entries.forEach(([id, value], i) => {
    payload.writeUInt16BE(Number(id), i * 6);
    payload.writeUInt32BE(value, i * 6 + 2);
  });
  return frame(FrameType.SETTINGS, 0, 0, payload);
}

/** The two settings that a sender heeds, as far as a SETTINGS frame has them. */
export interface PeerSettings {
  initialWindow?: number;
  maxFrameBytes?: number;
}

export function readSettings(payload: Buffer): PeerSettings {
  const found: PeerSettings = {};
  for (let at = 0; at + 6 <= payload.length; at += 6) {
    const id = payload.readUInt16BE(at);
    const value = payload.readUInt32BE(at + 2);
    if (id === Setting.INITIAL_WINDOW_SIZE) found.initialWindow = value;
    else if (id === Setting.MAX_FRAME_SIZE) found.maxFrameBytes = value;
  }
  return found;
}

/** HPACK: a header whose name stands in the static table under that index, or is given; enters no table, no Huffman. */
function literal(nameOrIndex: number | string, value: string): Buffer {
  const name =
    typeof nameOrIndex === 'string'
      ? [Buffer.from([0x00]), text(nameOrIndex)]
      : [nameOrIndex < 15 ? Buffer.from([nameOrIndex]) : Buffer.from([0x0f, nameOrIndex - 15])];
  return Buffer.concat([...name, text(value)]);
}

function text(value: string): Buffer {
  if (value.length > 126) throw new RangeError('longer than a length of one byte can say');
  return Buffer.concat([Buffer.from([value.length]), Buffer.from(value, 'latin1')]);
}

/** The header block of a call that Go's gRPC makes; the same bytes for every call. */
export function callHeaders(path: string, metadata: Readonly<Record<string, string>> = {}): Buffer {
  return Buffer.concat([
    Buffer.from([0x83, 0x86]), // :method POST, :scheme http
    literal(4, path),
    literal(1, 'localhost'),
    literal(31, 'application/grpc'),
    literal(58, 'grpc-go/1.75.0'),
    literal('te', 'trailers'),
    literal('grpc-accept-encoding', 'gzip'),
    ...Object.entries(metadata).map(([name, value]) => literal(name, value)),
  ]);
}

export const SETTINGS_ACK = frame(FrameType.SETTINGS, Flag.ACK, 0, Buffer.alloc(0));

export const GOAWAY = frame(FrameType.GOAWAY, 0, 0, Buffer.alloc(8));
