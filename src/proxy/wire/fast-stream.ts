import type { ClientHttp2Stream, Http2Session, ServerHttp2Stream } from 'node:http2';
import { Deframer, type FramingFault } from './deframer.ts';
import { encodeDataHead } from './encode.ts';
import {
  CANCELLED,
  type CallSide,
  DEFAULT_MAX_MESSAGE_BYTES,
  HandledStream,
  INVALID_ARGUMENT,
  RESOURCE_EXHAUSTED,
  type StreamOptions,
  UNAVAILABLE,
  UNIMPLEMENTED,
} from './handled-stream.ts';
import { WriteQueue } from './write-queue.ts';

/** Connections whose streams have the window of a link. */
const widened = new WeakSet<Http2Session>();

/**
 * PacketStream on the HTTP/2 stream of a call. grpc-js keeps headers, trailers, deadlines and the life of the call;
 * the messages no longer pass through it.
 */
export class FastStream extends HandledStream {
  readonly implementation = 'fast';
  readonly #stream: ServerHttp2Stream | ClientHttp2Stream;
  readonly #session: Http2Session | undefined;
  readonly #deframer: Deframer;
  readonly #maxMessageBytes: number;
  readonly #queue: WriteQueue;
  readonly #onFlushed: () => void;
  #received: readonly Buffer[];
  #paused = true;
  #opened = false;

  /** `received` are the bytes that were read from the stream before it was taken over. */
  constructor(
    stream: ServerHttp2Stream | ClientHttp2Stream,
    received: readonly Buffer[],
    side: CallSide,
    options: StreamOptions,
  ) {
    super(side, options);
    this.#stream = stream;
    this.#session = stream.session;
    this.#received = received;
    this.#maxMessageBytes = options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES;
    this.#deframer = new Deframer(this.#maxMessageBytes, (frame) => this.deliver(frame));
    this.#queue = new WriteQueue(stream, this.highWaterMarkBytes);
    this.#onFlushed = () => {
      // grpc-js ends a client's side with the status of its server. What waits has nowhere to go, and one more write
      // would be an error behind which the stream never ends.
      if (this.writable) this.#queue.drained();
      else this.#queue.clear();
      this.flushed();
    };
    if (options.windowBytes !== undefined) this.#widen(options.windowBytes);
    stream.pause();
    stream.removeAllListeners('data');
    stream.on('data', (chunk: Buffer) => this.#onData(chunk));
    stream.on('end', () => this.#onEnd());
    stream.on('drain', this.#onFlushed);
    stream.on('close', () => this.#onClose());
    // What the error says comes with 'close' too; grpc-js itself listens for the first one only.
    stream.on('error', () => {});
    // grpc-js lets a stream flow when its call has ended, also while its owner has it paused.
    stream.on('resume', () => {
      if (this.#paused) stream.pause();
    });
  }

  get bufferedBytes(): number {
    return this.#stream.destroyed ? 0 : this.#queue.bufferedBytes;
  }

  protected get writable(): boolean {
    return !this.#stream.writableEnded && !this.#stream.destroyed;
  }

  /** True when the connection went away, rather than this stream alone. */
  get connectionLost(): boolean {
    return this.#session === undefined || this.#session.destroyed || this.#session.closed;
  }

  /** On a server: the stream closed, and no status was sent. */
  concludeCut(): void {
    this.conclude(
      this.connectionLost
        ? { cause: 'cancelled', code: UNAVAILABLE, details: 'the connection was lost' }
        : {
            cause: 'cancelled',
            code: CANCELLED,
            details: `stream reset, HTTP/2 code ${this.#stream.rstCode}`,
          },
    );
  }

  override abort(code: number, details: string): void {
    super.abort(code, details);
    // A reset that waits for a peer that reads nothing must not hold it.
    this.#queue.clear();
  }

  pause(): void {
    if (this.deaf) return;
    this.#paused = true;
    this.#stream.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#stream.resume();
  }

  ping(onPong: (roundTripMs: number) => void): boolean {
    if (this.#session === undefined || this.#session.destroyed || this.#session.closed) return false;
    return this.#session.ping((error, roundTripMs) => {
      if (error === null) onPong(roundTripMs);
    });
  }

  protected start(): void {
    const received = this.#received;
    this.#received = [];
    this.#paused = false;
    // After attach() has returned, as with all other packets.
    process.nextTick(() => {
      for (const bytes of received) this.#onData(bytes);
      if (!this.#paused) this.#stream.resume();
    });
  }

  protected write(frame: Buffer, tell: boolean): void {
    if (!this.#opened) this.#open();
    if (tell) this.#queue.write(frame, this.#onFlushed);
    else this.#queue.write(frame);
  }

  protected override finish(code: number, details: string): void {
    this.side.ending?.();
    this.#queue.behind(() => super.finish(code, details));
  }

  protected writeData(connectId: number, payload: Buffer, tell: boolean): void {
    if (!this.#opened) this.#open();
    const stream = this.#stream;
    // Head and payload leave in one write, without the payload being copied behind the head.
    stream.cork();
    this.#queue.write(encodeDataHead(connectId, payload.length));
    this.write(payload, tell);
    stream.uncork();
  }

  #open(): void {
    this.#opened = true;
    this.side.opening?.();
  }

  /** HTTP/2 has one setting for all streams of a connection, and Node ends one with many settings on their way. */
  #widen(windowBytes: number): void {
    const session = this.#session;
    if (session === undefined || this.connectionLost || widened.has(session)) return;
    widened.add(session);
    session.settings({ initialWindowSize: windowBytes });
  }

  #onData(chunk: Buffer): void {
    if (this.deaf) return;
    const fault = this.#deframer.push(chunk);
    if (fault !== undefined) this.#refuse(fault);
  }

  #refuse(fault: FramingFault): void {
    if (fault === 'compressed') this.refuse(UNIMPLEMENTED, 'compressed messages are not taken');
    else this.refuse(RESOURCE_EXHAUSTED, `message of more than ${this.#maxMessageBytes} bytes`);
  }

  #onEnd(): void {
    // Node ends the reading side of a stream that was reset, too. Then 'close' is what counts.
    if (this.#stream.destroyed || (this.#stream.rstCode ?? 0) !== 0) return;
    if (this.side.role === 'server' && this.#stream.closed) return;
    // A call that failed may well be cut anywhere; one that ended in order may not.
    if (this.#deframer.midFrame && !this.callFailed) {
      this.refuse(INVALID_ARGUMENT, 'malformed-packet: the stream ended within a message');
    }
    this.inputEnded();
  }

  #onClose(): void {
    this.#queue.clear();
    this.side.closed?.();
    if (this.side.role === 'client') this.inputEnded();
  }
}
