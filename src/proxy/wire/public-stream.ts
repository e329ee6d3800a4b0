import type { Duplex } from 'node:stream';
import type { ClientDuplexStream, ServerDuplexStream } from '@grpc/grpc-js';
import { encodeDataFrame } from './encode.ts';
import { type CallSide, HandledStream, type StreamOptions } from './handled-stream.ts';
import { FRAME_HEADER_BYTES } from './packet.ts';

/**
 * PacketStream on the public API of grpc-js, whatever its version. Its size limit is that of the grpc-js channel or
 * server, it decompresses where grpc-js does, and it cannot ping.
 */
export class PublicStream extends HandledStream {
  readonly implementation = 'public';
  readonly #call: Duplex;
  #bufferedBytes = 0;
  #paused = false;

  constructor(
    call: ServerDuplexStream<Buffer, Buffer> | ClientDuplexStream<Buffer, Buffer>,
    side: CallSide,
    options: StreamOptions,
  ) {
    super(side, options);
    this.#call = call as unknown as Duplex;
    this.#call.on('error', () => {});
  }

  get bufferedBytes(): number {
    return this.#call.destroyed ? 0 : this.#bufferedBytes;
  }

  protected get writable(): boolean {
    return !this.#call.writableEnded && !this.#call.destroyed;
  }

  pause(): void {
    if (this.deaf) return;
    this.#paused = true;
    this.#call.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#call.resume();
  }

  ping(): boolean {
    return false;
  }

  protected start(): void {
    this.#call.on('data', (message: Buffer) => this.#onMessage(message));
    this.#call.on('end', () => this.inputEnded());
    this.#call.on('close', () => {
      if (this.side.role === 'client') this.inputEnded();
    });
    if (this.#paused) this.#call.pause();
  }

  protected write(frame: Buffer): void {
    this.#bufferedBytes += frame.length;
    this.#call.write(frame.subarray(FRAME_HEADER_BYTES), () => {
      this.#bufferedBytes -= frame.length;
      this.flushed();
    });
  }

  protected writeData(connectId: number, payload: Buffer): void {
    this.write(encodeDataFrame(connectId, payload));
  }

  #onMessage(message: Buffer): void {
    if (this.deaf) return;
    const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + message.length);
    frame[0] = 0;
    frame.writeUInt32BE(message.length, 1);
    message.copy(frame, FRAME_HEADER_BYTES);
    this.deliver(frame);
  }
}
