import type { Socket } from 'node:net';

/** What is handed to the socket at once. Above its high-water mark, so that a 'drain' follows. */
const BATCH_BYTES = 64 * 1024;

/**
 * What waits for the socket of a destination or a client. Node hands all that a socket has buffered to the kernel as one write, and tells
 * nothing of it until the whole is taken; here it goes in small pieces, so that a slow reader can be told from
 * one that takes nothing, and grants follow what it takes.
 */
export class WriteQueue {
  readonly #socket: Socket;
  #chunks: Buffer[] = [];
  #head = 0;
  #queuedBytes = 0;
  #end: (() => void) | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Bytes that the kernel has not taken yet, as far as is known. */
  get bufferedBytes(): number {
    return this.#queuedBytes + this.#socket.writableLength;
  }

  /** False when the socket takes no more now, as its own write() says it. */
  write(data: Buffer): boolean {
    if (this.#queuedBytes === 0 && this.#free) return this.#socket.write(data);
    this.#chunks.push(data);
    this.#queuedBytes += data.length;
    return false;
  }

  /** The socket's 'drain': hands over the next pieces. */
  drained(): void {
    while (this.#head < this.#chunks.length && this.#free) {
      const chunk = this.#chunks[this.#head++] as Buffer;
      this.#queuedBytes -= chunk.length;
      this.#socket.write(chunk);
    }
    if (this.#head === this.#chunks.length) {
      this.#chunks = [];
      this.#head = 0;
      this.#end?.();
    } else if (this.#head >= 1024) {
      this.#chunks = this.#chunks.slice(this.#head);
      this.#head = 0;
    }
  }

  /** Ends the socket behind all that was written; then, or at an error, calls back. */
  end(ended: () => void): void {
    this.#end = () => {
      this.#end = undefined;
      this.#socket.end(ended);
    };
    if (this.#queuedBytes === 0) this.#end();
  }

  /** Drops what waits. */
  clear(): void {
    this.#chunks = [];
    this.#head = 0;
    this.#queuedBytes = 0;
    this.#end = undefined;
  }

  get #free(): boolean {
    return this.#socket.writableLength < Math.max(BATCH_BYTES, this.#socket.writableHighWaterMark);
  }
}
