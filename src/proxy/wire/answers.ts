import { encodeFrame } from './encode.ts';
import type { Packet } from './packet.ts';

const MOST_WAITING_BYTES = 4 * 1024 * 1024;

/**
 * Sends what a peer caused by packets of its own (PONG, refusals), and holds a bound on it: a peer that asks and does
 * not read must not make us hold its answers.
 */
export class Answers {
  readonly #sendFrame: (frame: Buffer) => boolean;
  readonly #onTooMany: () => void;
  readonly #mostBytes: number;
  #bytes = 0;

  /**
   * @param sendFrame false when the stream is full
   * @param onTooMany the owner gives the stream up
   * @param mostBytes sent since the stream was full and not drained; 4 MiB unless told
   */
  constructor(sendFrame: (frame: Buffer) => boolean, onTooMany: () => void, mostBytes = MOST_WAITING_BYTES) {
    this.#sendFrame = sendFrame;
    this.#onTooMany = onTooMany;
    this.#mostBytes = mostBytes;
  }

  send(packet: Packet): void {
    const frame = encodeFrame(packet);
    if (this.#sendFrame(frame)) return;
    this.#bytes += frame.length;
    if (this.#bytes > this.#mostBytes) this.#onTooMany();
  }

  /** The stream has room again. */
  drained(): void {
    this.#bytes = 0;
  }
}
