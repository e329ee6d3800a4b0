import { FRAME_HEADER_BYTES } from './packet.ts';

/** Put together in one buffer from the start; what is larger gets its buffer as it arrives. */
const AT_ONCE_BYTES = 128 * 1024;

/** Why a byte stream cannot be cut into gRPC messages any further. */
export type FramingFault = 'compressed' | 'too-large';

/** Takes one whole frame (prefix and message); false means: no more, please. */
export type TakeFrame = (frame: Buffer) => boolean;

/**
 * Cuts a byte stream into gRPC frames. A frame that lies within one chunk is a view into it; one that is spread over
 * several is put together in a buffer of its own. Of large frames that buffer grows with what has arrived: five bytes
 * that announce 4 MiB must not cost 4 MiB.
 */
export class Deframer {
  readonly #maxMessageBytes: number;
  readonly #take: TakeFrame;
  readonly #header = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
  #headerBytes = 0;
  #frame: Buffer | undefined;
  #frameBytes = 0;
  /** Of the whole frame, once its header is known. */
  #size = 0;

  constructor(maxMessageBytes: number, take: TakeFrame) {
    this.#maxMessageBytes = maxMessageBytes;
    this.#take = take;
  }

  /** True when the bytes so far end within a frame. */
  get midFrame(): boolean {
    return this.#headerBytes > 0 || this.#frame !== undefined;
  }

  /** Takes the next bytes. After a fault, or a frame that was refused, nothing more may be pushed. */
  push(chunk: Buffer): FramingFault | undefined {
    const end = chunk.length;
    let at = 0;
    while (at < end) {
      if (this.#frame === undefined && this.#headerBytes === 0 && end - at >= FRAME_HEADER_BYTES) {
        const size = FRAME_HEADER_BYTES + chunk.readUInt32BE(at + 1);
        const fault = this.#check(chunk[at] as number, size);
        if (fault !== undefined) return fault;
        if (end - at >= size) {
          if (!this.#take(chunk.subarray(at, at + size))) return undefined;
          at += size;
          continue;
        }
        this.#begin(size);
      } else if (this.#frame === undefined) {
        const bytes = Math.min(FRAME_HEADER_BYTES - this.#headerBytes, end - at);
        chunk.copy(this.#header, this.#headerBytes, at, at + bytes);
        this.#headerBytes += bytes;
        at += bytes;
        if (this.#headerBytes < FRAME_HEADER_BYTES) return undefined;
        const size = FRAME_HEADER_BYTES + this.#header.readUInt32BE(1);
        const fault = this.#check(this.#header[0] as number, size);
        if (fault !== undefined) return fault;
        this.#header.copy(this.#begin(size));
        this.#frameBytes = FRAME_HEADER_BYTES;
        this.#headerBytes = 0;
      }
      const bytes = Math.min(this.#size - this.#frameBytes, end - at);
      const frame = this.#room(this.#frameBytes + bytes);
      chunk.copy(frame, this.#frameBytes, at, at + bytes);
      this.#frameBytes += bytes;
      at += bytes;
      if (this.#frameBytes < this.#size) return undefined;
      this.#frame = undefined;
      this.#frameBytes = 0;
      if (!this.#take(frame)) return undefined;
    }
    return undefined;
  }

  #begin(size: number): Buffer {
    this.#size = size;
    this.#frame = Buffer.allocUnsafe(Math.min(size, AT_ONCE_BYTES));
    return this.#frame;
  }

  /** The frame's buffer, with room for that many bytes: doubled where needed, so that each byte is moved once on average. */
  #room(bytes: number): Buffer {
    const frame = this.#frame as Buffer;
    if (bytes <= frame.length) return frame;
    const larger = Buffer.allocUnsafe(Math.min(this.#size, Math.max(bytes, 2 * frame.length)));
    frame.copy(larger, 0, 0, this.#frameBytes);
    this.#frame = larger;
    return larger;
  }

  #check(flag: number, size: number): FramingFault | undefined {
    if (flag !== 0) return 'compressed';
    return size - FRAME_HEADER_BYTES > this.#maxMessageBytes ? 'too-large' : undefined;
  }
}
