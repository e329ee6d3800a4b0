import type { Socket } from 'node:net';
import {
  DEFAULT_MAX_FRAME_BYTES,
  DEFAULT_WINDOW_BYTES,
  FRAME_HEADER_BYTES,
  FrameType,
  type PeerSettings,
  STREAM_ID,
  writeHeader,
} from './http2-frames.ts';

/** Sends the stream's bytes as DATA frames, as far as the peer's windows and the socket take them. */
export class Http2Sender {
  readonly #socket: Socket;
  readonly #onDrain: () => void;
  readonly #queue: Buffer[] = [];
  /** How much of the queue's first buffer is sent. */
  #sent = 0;
  #connectionWindow = DEFAULT_WINDOW_BYTES;
  #streamWindow = DEFAULT_WINDOW_BYTES;
  #initialWindow = DEFAULT_WINDOW_BYTES;
  #maxFrameBytes = DEFAULT_MAX_FRAME_BYTES;
  #full = false;

  constructor(socket: Socket, onDrain: () => void) {
    this.#socket = socket;
    this.#onDrain = onDrain;
    socket.on('drain', () => this.#continue());
  }

  /** False: wait for onDrain. */
  send(bytes: Buffer): boolean {
    this.#queue.push(bytes);
    this.#flush();
    this.#full = this.#queue.length > 0 || this.#socket.writableNeedDrain;
    return !this.#full;
  }

  /** The peer's WINDOW_UPDATE for the stream, or for the connection (stream 0). */
  grant(streamId: number, bytes: number): void {
    if (streamId === 0) this.#connectionWindow += bytes;
    else this.#streamWindow += bytes;
    this.#continue();
  }

  /** The peer's SETTINGS; what they do not name stays. */
  configure({ initialWindow, maxFrameBytes }: PeerSettings): void {
    if (initialWindow !== undefined) {
      this.#streamWindow += initialWindow - this.#initialWindow;
      this.#initialWindow = initialWindow;
    }
    if (maxFrameBytes !== undefined) this.#maxFrameBytes = maxFrameBytes;
    this.#continue();
  }

  #continue(): void {
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
      const window = Math.min(this.#connectionWindow, this.#streamWindow, this.#maxFrameBytes);
      const length = Math.min(window, bytes.length - this.#sent);
      if (length <= 0) break;
      this.#write(bytes.subarray(this.#sent, this.#sent + length));
      this.#connectionWindow -= length;
      this.#streamWindow -= length;
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
    writeHeader(out, part.length, FrameType.DATA, 0, STREAM_ID);
    // Small ones are copied: one buffer is a plain write, two are a gathered one.
    if (small) part.copy(out, FRAME_HEADER_BYTES);
    this.#socket.write(out);
    if (!small) this.#socket.write(part);
  }
}
