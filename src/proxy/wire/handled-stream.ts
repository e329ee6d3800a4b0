import { MalformedPacketError } from './cursor.ts';
import { decodeFrame } from './decode.ts';
import { encodeFrame } from './encode.ts';
import { type Packet, PacketType } from './packet.ts';
import type { PacketStream, PacketStreamHandler, StreamEnd } from './packet-stream.ts';
import { frameType, StreamCounts } from './stream-counts.ts';

/** gRPC status codes that streams end with. */
export const OK = 0;
export const CANCELLED = 1;
export const INVALID_ARGUMENT = 3;
export const RESOURCE_EXHAUSTED = 8;
export const UNIMPLEMENTED = 12;
export const INTERNAL = 13;
export const UNAVAILABLE = 14;

/** Bounds of one stream. */
export interface StreamOptions {
  /** send() returns false from that many buffered bytes on. */
  readonly highWaterMarkBytes?: number;
  /** The HTTP/2 window of the peer's streams from now on; the connection began with that of its server or channel. */
  readonly windowBytes?: number;
  /** A larger message ends the stream with RESOURCE_EXHAUSTED. */
  readonly maxMessageBytes?: number;
  /** Where packets and errors of the stream are counted. */
  readonly counts?: StreamCounts;
}

export const DEFAULT_HIGH_WATER_MARK_BYTES = 256 * 1024;
export const DEFAULT_MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** What a stream does through its call, which differs between server and client. */
export interface CallSide {
  readonly role: 'server' | 'client';
  /** Called before the first packet is written. */
  opening?(): void;
  /** The end was asked for; finish() follows when the transport below was handed all that was written. */
  ending?(): void;
  /** Server: the status behind all that was written. Client: half-close. */
  finish(code: number, details: string): void;
  /** The HTTP/2 stream is closed; told by the implementation that reads it itself. */
  closed?(): void;
  /** Ends the call at once, whatever is still unsent. */
  reset(code: number, details: string): void;
}

/** What both implementations of PacketStream share: the handler, and the rules for the one end. */
export abstract class HandledStream implements PacketStream {
  abstract readonly implementation: 'public' | 'fast';
  abstract readonly bufferedBytes: number;
  protected readonly side: CallSide;
  protected readonly highWaterMarkBytes: number;
  #handler: PacketStreamHandler | undefined;
  #end: StreamEnd | undefined;
  #status: StreamEnd | undefined;
  #inputOver = false;
  #sendClosed = false;
  #deaf = false;
  #drainOwed = false;
  readonly #counts: StreamCounts;

  constructor(side: CallSide, options: StreamOptions) {
    this.side = side;
    this.#counts = options.counts ?? new StreamCounts();
    this.highWaterMarkBytes = options.highWaterMarkBytes ?? DEFAULT_HIGH_WATER_MARK_BYTES;
  }

  abstract pause(): void;
  abstract resume(): void;
  abstract ping(onPong: (roundTripMs: number) => void): boolean;
  /** Starts the flow of frames into deliver(). */
  protected abstract start(): void;
  /** Hands a frame to the transport; with `tell`, flushed() must be called when it was taken over. */
  protected abstract write(frame: Buffer, tell: boolean): void;
  /** The same for a DATA frame. */
  protected abstract writeData(connectId: number, payload: Buffer, tell: boolean): void;
  /** False when the transport below takes nothing any more. */
  protected abstract readonly writable: boolean;

  /** Ends behind all that was written. */
  protected finish(code: number, details: string): void {
    this.side.finish(code, details);
  }

  get open(): boolean {
    return !this.#sendClosed;
  }

  /** True once end() was called or the stream is over. */
  protected get deaf(): boolean {
    return this.#deaf;
  }

  /** On a client: the call ended with another status than OK. */
  protected get callFailed(): boolean {
    return this.#status !== undefined && this.#status.code !== OK;
  }

  attach(handler: PacketStreamHandler): void {
    this.#handler = handler;
    if (this.#end !== undefined && this.#end.cause !== 'half-close') this.#tellEnd(this.#end);
    else this.start();
  }

  send(packet: Packet): boolean {
    return this.#sendClosed || this.sendFrame(encodeFrame(packet));
  }

  sendFrame(frame: Buffer): boolean {
    if (this.#sendClosed || !this.writable) return true;
    this.#counts.sent.add(frameType(frame));
    const full = this.bufferedBytes + frame.length >= this.highWaterMarkBytes;
    this.write(frame, full);
    if (full) this.#drainOwed = true;
    return !full;
  }

  sendData(connectId: number, payload: Buffer): boolean {
    if (this.#sendClosed || !this.writable) return true;
    this.#counts.sent.add(PacketType.DATA);
    const full = this.bufferedBytes + payload.length >= this.highWaterMarkBytes;
    this.writeData(connectId, payload, full);
    if (full) this.#drainOwed = true;
    return !full;
  }

  end(code = OK, details = ''): void {
    if (this.#sendClosed) return;
    this.#sendClosed = true;
    if (this.side.role === 'server') this.#stopListening();
    this.finish(code, details);
  }

  abort(code: number, details: string): void {
    if (this.#end !== undefined && this.#end.cause !== 'half-close') return;
    this.#stopListening();
    this.side.reset(code, details);
    this.conclude({ cause: 'aborted', code, details });
  }

  /** A frame arrived. False when no more are wanted. */
  protected deliver(frame: Buffer): boolean {
    if (this.#deaf) return false;
    let packet: Packet;
    try {
      packet = decodeFrame(frame);
    } catch (error) {
      if (!(error instanceof MalformedPacketError)) throw error;
      this.refuse(INVALID_ARGUMENT, `malformed-packet: ${error.message}`);
      return false;
    }
    this.#counts.received.add(packet.type);
    this.#call((handler) => handler.onPacket(packet));
    return !this.#deaf;
  }

  /** A write was taken over by the transport. */
  protected flushed(): void {
    if (!this.#drainOwed || !this.writable || this.bufferedBytes >= this.highWaterMarkBytes) return;
    this.#drainOwed = false;
    if (this.#sendClosed) return;
    this.#call((handler) => handler.onDrain());
  }

  /** The peer sent what cannot be taken: the stream ends with that status. */
  protected refuse(code: number, details: string): void {
    if (this.#deaf) return;
    this.#stopListening();
    if (this.side.role === 'client') this.side.reset(code, details);
    else this.finish(code, details);
    this.conclude({ cause: 'malformed', code, details });
  }

  /** Everything that the peer sent has been delivered. */
  protected inputEnded(): void {
    this.#inputOver = true;
    if (this.side.role === 'server') {
      // Node's clients, grpc-js among them, cancel by END_STREAM and RST_STREAM: a reset in the same read counts.
      setImmediate(() => {
        if (!this.#deaf) this.conclude({ cause: 'half-close', code: OK, details: 'the client half-closed' });
      });
    } else if (this.#status !== undefined) {
      this.conclude(this.#status);
    }
  }

  /** On a client: the call has its status. The end waits for packets that are still on their way. */
  callEnded(end: StreamEnd): void {
    this.#status ??= end;
    this.#sendClosed = true;
    if (this.#inputOver) this.conclude(this.#status);
  }

  /** The stream is over; of several reasons the first counts. */
  conclude(end: StreamEnd): void {
    if (end.cause !== 'half-close') {
      this.#sendClosed = true;
      this.#stopListening();
    }
    if (this.#end !== undefined) return;
    this.#end = end;
    if (end.code !== OK) this.#counts.error(end.code);
    if (this.#handler !== undefined) this.#tellEnd(end);
  }

  #stopListening(): void {
    this.#deaf = true;
    this.resume();
  }

  /** Later than the call that caused it, so that an owner is never told in the middle of its own abort(). */
  #tellEnd(end: StreamEnd): void {
    process.nextTick(() => {
      try {
        this.#handler?.onEnd(end);
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    });
  }

  #call(run: (handler: PacketStreamHandler) => void): void {
    try {
      if (this.#handler !== undefined) run(this.#handler);
    } catch (error) {
      this.abort(INTERNAL, `handler failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
