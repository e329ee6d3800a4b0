import type { Socket } from 'node:net';
import { DEFAULT_MAX_FRAME_BYTES, DEFAULT_WINDOW_BYTES, type PeerSettings } from './http2-frames.ts';
import { Http2Sender } from './http2-sender.ts';

/** What the streams of one connection may send: the connection's own window, and the senders with theirs. */
export class Http2SendWindows {
  /** Of the connection. */
  bytes = DEFAULT_WINDOW_BYTES;
  /** Of a stream that is opened now. */
  initialBytes = DEFAULT_WINDOW_BYTES;
  maxFrameBytes = DEFAULT_MAX_FRAME_BYTES;
  readonly #socket: Socket;
  readonly #senders = new Map<number, Http2Sender>();

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('drain', () => this.#continue());
  }

  /** @param onDrain called when a send() that was answered false is gone */
  open(streamId: number, onDrain: () => void): Http2Sender {
    const sender = new Http2Sender(this.#socket, this, streamId, onDrain);
    this.#senders.set(streamId, sender);
    return sender;
  }

  close(streamId: number): void {
    this.#senders.delete(streamId);
  }

  /** The peer's WINDOW_UPDATE for a stream, or for the connection (stream 0). */
  grant(streamId: number, bytes: number): void {
    if (streamId === 0) {
      this.bytes += bytes;
      this.#continue();
    } else {
      this.#senders.get(streamId)?.grant(bytes);
    }
  }

  /** The peer's SETTINGS; what they do not name stays. */
  configure({ initialWindow, maxFrameBytes }: PeerSettings): void {
    if (maxFrameBytes !== undefined) this.maxFrameBytes = maxFrameBytes;
    if (initialWindow === undefined) return;
    const more = initialWindow - this.initialBytes;
    this.initialBytes = initialWindow;
    for (const sender of this.#senders.values()) sender.grant(more);
  }

  #continue(): void {
    for (const sender of this.#senders.values()) sender.continue();
  }
}
