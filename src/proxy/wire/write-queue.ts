import type { Writable } from 'node:stream';

/** What is handed over at once. Above the high-water mark of a socket, so that a 'drain' follows. */
const BATCH_BYTES = 64 * 1024;

/**
 * What waits for a socket, or for an HTTP/2 stream. Node hands all that one has buffered down as one write, and tells
 * nothing of it until the whole is taken; here it goes in small pieces, so that a slow reader can be told from one that
 * takes nothing, and grants follow what it takes.
 */
export class WriteQueue {
  readonly #socket: Writable;
  readonly #batchBytes: number;
  #chunks: Buffer[] = [];
  #head = 0;
  #queuedBytes = 0;
  #behind: (() => void) | undefined;

  constructor(socket: Writable, batchBytes = BATCH_BYTES) {
    this.#socket = socket;
    this.#batchBytes = Math.max(batchBytes, socket.writableHighWaterMark);
  }

  /** Bytes that the kernel has not taken yet, as far as is known. */
  get bufferedBytes(): number {
    return this.#queuedBytes + this.#socket.writableLength;
  }

  /**
   * False when the socket takes no more now, as its own write() says it.
   * @param taken called when the socket has taken it, if it did not have to wait here
   */
  write(data: Buffer, taken?: () => void): boolean {
    if (this.#queuedBytes === 0 && this.#free) return this.#socket.write(data, taken);
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
      this.#runBehind();
    } else if (this.#head >= 1024) {
      this.#chunks = this.#chunks.slice(this.#head);
      this.#head = 0;
    }
  }

  /** Ends the socket behind all that was written; then, or at an error, calls back. */
  end(ended: () => void): void {
    this.behind(() => this.#socket.end(ended));
  }

  /** Runs an action once the socket was handed all that was written. The last one given counts. */
  behind(action: () => void): void {
    this.#behind = action;
    if (this.#queuedBytes === 0) this.#runBehind();
  }

  /** Drops what waits. */
  clear(): void {
    this.#chunks = [];
    this.#head = 0;
    this.#queuedBytes = 0;
    this.#behind = undefined;
  }

  #runBehind(): void {
    const action = this.#behind;
    this.#behind = undefined;
    action?.();
  }

  get #free(): boolean {
    return this.#socket.writableLength < this.#batchBytes;
  }
}
