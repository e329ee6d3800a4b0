import { mendAuthority } from './header-block.ts';

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
const FRAME_HEAD_BYTES = 9;
/** The largest frame that may be sent before the other side has allowed more (RFC 9113, 6.5.2). */
const MAX_FRAME_BYTES = 16_384;
const [HEADERS, SETTINGS, CONTINUATION] = [1, 4, 9] as const;
const [ACK, END_HEADERS, PADDED, PRIORITY] = [0x1, 0x4, 0x8, 0x20] as const;

/** What the bytes so far amount to: wait for more, not HTTP/2, or complete and rewritten. */
export type Opening =
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'not-http2' }
  | { readonly kind: 'complete'; readonly bytes: Buffer; readonly mended: boolean };

/**
 * Looks at everything a client sent so far. Complete when its first header block and the acknowledgement of one
 * SETTINGS frame of ours are there; that acknowledgement is then left out, and the block's `:authority` mended.
 */
export function readOpening(bytes: Buffer): Opening {
  const common = Math.min(bytes.length, PREFACE.length);
  if (bytes.compare(PREFACE, 0, common, 0, common) !== 0) return { kind: 'not-http2' };
  const frames: Buffer[] = [];
  let sawAck = false;
  let sawHead = false;
  let mended = false;
  let at = PREFACE.length;
  for (;;) {
    const frame = frameAt(bytes, at);
    if (frame === undefined) break;
    if (!sawAck && frame.type === SETTINGS && (frame.flags & ACK) !== 0) {
      sawAck = true;
      at = frame.end;
      continue;
    }
    if (!sawHead && frame.type === HEADERS) {
      const block = blockAt(bytes, at);
      if (block === undefined) return { kind: 'incomplete' };
      frames.push(block.bytes);
      at = block.end;
      sawHead = true;
      mended = block.mended;
      continue;
    }
    frames.push(bytes.subarray(at, frame.end));
    at = frame.end;
  }
  if (!sawAck || !sawHead) return { kind: 'incomplete' };
  return { kind: 'complete', mended, bytes: Buffer.concat([PREFACE, ...frames, bytes.subarray(at)]) };
}

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
  readonly end: number;
}

function frameAt(bytes: Buffer, at: number): Frame | undefined {
  if (at + FRAME_HEAD_BYTES > bytes.length) return undefined;
  const length = bytes.readUIntBE(at, 3);
  const end = at + FRAME_HEAD_BYTES + length;
  if (end > bytes.length) return undefined;
  return {
    type: bytes[at + 3] as number,
    flags: bytes[at + 4] as number,
    streamId: bytes.readUInt32BE(at + 5) & 0x7fffffff,
    payload: bytes.subarray(at + FRAME_HEAD_BYTES, end),
    end,
  };
}

/** The header block that begins at `at`, with its CONTINUATION frames, as it should be passed on. */
function blockAt(
  bytes: Buffer,
  at: number,
): { readonly bytes: Buffer; readonly mended: boolean; readonly end: number } | undefined {
  const first = frameAt(bytes, at) as Frame;
  const fragments = [fragmentOf(first)];
  let last = first;
  while ((last.flags & END_HEADERS) === 0) {
    const next = frameAt(bytes, last.end);
    if (next === undefined) return undefined;
    // Against the protocol: HTTP/2 itself shall say so.
    if (next.type !== CONTINUATION || next.streamId !== first.streamId) break;
    fragments.push(next.payload);
    last = next;
  }
  const asSent = bytes.subarray(at, last.end);
  const block = mendAuthority(Buffer.concat(fragments));
  if (block === undefined || (last.flags & END_HEADERS) === 0)
    return { bytes: asSent, mended: false, end: last.end };
  // Padding and priority mean nothing to what is behind us, so the new frames go without.
  return { bytes: framesOf(block, first), mended: true, end: last.end };
}

/** A header block as HEADERS and as many CONTINUATION frames as the default frame size asks for. */
function framesOf(block: Buffer, first: Frame): Buffer {
  const frames: Buffer[] = [];
  for (let at = 0; at < block.length; at += MAX_FRAME_BYTES) {
    const part = block.subarray(at, at + MAX_FRAME_BYTES);
    const end = at + part.length === block.length ? END_HEADERS : 0;
    const flags = at === 0 ? first.flags & ~(PADDED | PRIORITY | END_HEADERS) : 0;
    frames.push(frame(at === 0 ? HEADERS : CONTINUATION, flags | end, first.streamId, part));
  }
  return Buffer.concat(frames);
}

function fragmentOf({ flags, payload }: Frame): Buffer {
  const padding = (flags & PADDED) === 0 ? 0 : (payload[0] ?? 0);
  const start = ((flags & PADDED) === 0 ? 0 : 1) + ((flags & PRIORITY) === 0 ? 0 : 5);
  return payload.subarray(start, Math.max(start, payload.length - padding));
}

function frame(type: number, flags: number, streamId: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}
