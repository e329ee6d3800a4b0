import { FRAME_HEADER_BYTES, FrameType } from './http2-frames.ts';

export interface FrameHandler {
  /** A part of a DATA frame's payload, as it came; a view that is valid during the call only. */
  onDataPart(bytes: Buffer, streamId: number): void;
  /** The whole of a DATA frame was handed over. */
  onDataEnd(flags: number, streamId: number): void;
  /** Any other frame with its payload. */
  onFrame(type: number, flags: number, streamId: number, payload: Buffer): void;
}

/** Cuts what a connection delivers into frames; DATA is passed on in the pieces in which it arrives. */
export class Http2Reader {
  readonly #handler: FrameHandler;
  readonly #header = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
  #headerBytes = 0;
  #type = 0;
  #flags = 0;
  #streamId = 0;
  /** Payload bytes of the current frame that are still to come. */
  #left = 0;
  #payload: Buffer[] = [];

  constructor(handler: FrameHandler) {
    this.#handler = handler;
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#headerBytes < FRAME_HEADER_BYTES) {
        const bytes = Math.min(FRAME_HEADER_BYTES - this.#headerBytes, chunk.length - at);
        chunk.copy(this.#header, this.#headerBytes, at, at + bytes);
        this.#headerBytes += bytes;
        at += bytes;
        if (this.#headerBytes < FRAME_HEADER_BYTES) return;
        this.#left = this.#header.readUIntBE(0, 3);
        this.#type = this.#header[3] as number;
        this.#flags = this.#header[4] as number;
        this.#streamId = this.#header.readUInt32BE(5) & 0x7fffffff;
        if (this.#left === 0) this.#finish();
        continue;
      }
      const bytes = Math.min(this.#left, chunk.length - at);
      const part = chunk.subarray(at, at + bytes);
      at += bytes;
      this.#left -= bytes;
      if (this.#type === FrameType.DATA) this.#handler.onDataPart(part, this.#streamId);
      // The chunk's memory is read into again.
      else this.#payload.push(Buffer.from(part));
      if (this.#left === 0) this.#finish();
    }
  }

  #finish(): void {
    this.#headerBytes = 0;
    if (this.#type === FrameType.DATA) {
      this.#handler.onDataEnd(this.#flags, this.#streamId);
      return;
    }
    const payload = Buffer.concat(this.#payload);
    this.#payload = [];
    this.#handler.onFrame(this.#type, this.#flags, this.#streamId, payload);
  }
}
