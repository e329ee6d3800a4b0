import { FRAME_HEADER_BYTES, PacketType } from './packet.ts';

/** Label values of packet types, by place in a tally: upstream's seven, then ours, then all others. */
const NAMES: readonly string[] = [...Object.keys(PacketType), 'Unknown'];
/** Types from this one on are ours. */
const OURS_FROM = PacketType.WINDOW;
const UPSTREAM_TYPES = PacketType.DRAIN + 1;
const OTHER = NAMES.length - 1;

/** Packets of one direction by type. Counting is one addition to an array: it is done for every packet. */
export class PacketTally {
  readonly #counts = new Float64Array(NAMES.length);

  add(type: number): void {
    const place = placeOf(type);
    this.#counts[place] = (this.#counts[place] as number) + 1;
  }

  /** Type name and count, of those that occurred. */
  *entries(): Generator<readonly [string, number]> {
    for (const [place, name] of NAMES.entries()) {
      const count = this.#counts[place] as number;
      if (count > 0) yield [name, count];
    }
  }
}

function placeOf(type: number): number {
  if (type >= 0 && type < UPSTREAM_TYPES) return type;
  const place = type - OURS_FROM + UPSTREAM_TYPES;
  return place >= UPSTREAM_TYPES && place < OTHER ? place : OTHER;
}

/** What all streams of one kind (agents at a server, say) count together. */
export class StreamCounts {
  readonly received = new PacketTally();
  readonly sent = new PacketTally();
  /** Streams that ended with an error, by gRPC status code. */
  readonly errors = new Map<number, number>();

  error(code: number): void {
    this.errors.set(code, (this.errors.get(code) ?? 0) + 1);
  }
}

const TYPE_TAG = 0x08;
/** Packet types by the tag byte of their payload. */
const BY_PAYLOAD_TAG: readonly number[] = [
  PacketType.DIAL_REQ,
  PacketType.DIAL_RSP,
  PacketType.DATA,
  PacketType.CLOSE_REQ,
  PacketType.CLOSE_RSP,
  PacketType.DIAL_CLS,
  PacketType.DRAIN,
];

/**
 * The packet type of an encoded frame, by its first bytes: every encoder writes the type first (nothing for DIAL_REQ,
 * which is 0); of others the payload's tag tells it.
 */
export function frameType(frame: Buffer): number {
  const tag = frame[FRAME_HEADER_BYTES];
  if (tag === TYPE_TAG) {
    const low = frame[FRAME_HEADER_BYTES + 1] ?? 0;
    return low < 0x80 ? low : (low & 0x7f) | ((frame[FRAME_HEADER_BYTES + 2] ?? 0) << 7);
  }
  // Length-delimited field 2 and up: tag 0x12, 0x1a, ...
  return BY_PAYLOAD_TAG[((tag ?? 0) >> 3) - 2] ?? PacketType.DIAL_REQ;
}

/** gRPC status codes as Go prints them. */
const CODES: readonly string[] = [
  'OK',
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
];

export function codeName(code: number): string {
  return CODES[code] ?? `Code(${code})`;
}
