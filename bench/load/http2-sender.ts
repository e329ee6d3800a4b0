import type { Socket } from 'node:net';
import { FRAME_HEADER_BYTES, FrameType, writeHeader } from './http2-frames.ts';
import type { Http2SendWindows } from './http2-send-windows.ts';

/** Sends one stream's bytes as DATA frames, as far as the peer's windows and the socket take them. */
export class Http2Sender {
  readonly #socket: Socket;
  readonly #windows: Http2SendWindows;
  readonly #streamId: number;
  readonly #onDrain: () => void;
  readonly #queue: Buffer[] = [];
  /** How much of the queue's first buffer is sent. */
  #sent = 0;
  #window: number;
  #full = false;

  constructor(socket: Socket, windows: Http2SendWindows, streamId: number, onDrain: () => void) {
    this.#socket = socket;
    this.#windows = windows;
    this.#streamId = streamId;
    this.#onDrain = onDrain;
    this.#window = windows.initialBytes;
  }

  /** False: wait for onDrain. */
  send(bytes: Buffer): boolean {
    this.#queue.push(bytes);
    this.#flush();
    this.#full = this.#queue.length > 0 || this.#socket.writableNeedDrain;
    return !this.#full;
  }

  /** The stream's own window grew. */
  grant(bytes: number): void {
    this.#window += bytes;
    this.continue();
  }

  /** A window grew, or the socket takes more. */
  continue(): void {
    this.#flush();
    if (!this.#full || this.#queue.length > 0 || this.#socket.writableNeedDrain) return;
    this.#full = false;
    this.#onDrain();
  }

  #flush(): void {
    if (this.#queue.length === 0 || this.#socket.writableNeedDrain) return;
    this.#socket.cork();
    while (this.#queue.length > 0) {
      const bytes = this.#queue[0] as Buffer;
      const window = Math.min(this.#windows.bytes, this.#window, this.#windows.maxFrameBytes);
      const length = Math.min(window, bytes.length - this.#sent);
      if (length <= 0) break;
      this.#write(bytes.subarray(this.#sent, this.#sent + length));
      this.#windows.bytes -= length;
      this.#window -= length;
      this.#sent += length;
      if (this.#sent < bytes.length) continue;
      this.#queue.shift();
      this.#sent = 0;
    }
    this.#socket.uncork();
  }

  #write(part: Buffer): void {
    const small = part.length <= 1024;
    const out = Buffer.allocUnsafe(FRAME_HEADER_BYTES + (small ? part.length : 0));
    writeHeader(out, part.length, FrameType.DATA, 0, this.#streamId);
    // Small ones are copied: one buffer is a plain write, two are a gathered one.
    if (small) part.copy(out, FRAME_HEADER_BYTES);
    this.#socket.write(out);
    if (!small) this.#socket.write(part);
  }
}
