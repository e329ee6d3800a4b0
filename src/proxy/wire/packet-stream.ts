import type { Packet } from './packet.ts';

/** How a stream came to its end, as its owner needs to know it. */
export interface StreamEnd {
  /**
   * `half-close`: the peer (a client) sent everything it had and may still read, so that the server may still send
   * and owes the stream its end(); `status`: the peer (a server) ended the call with a gRPC status; `ended`: end()
   * here, on a server, was carried out; `cancelled`: the peer reset the stream or its connection went away;
   * `malformed`: it sent what is not a packet, or too large a one (the stream was answered INVALID_ARGUMENT,
   * RESOURCE_EXHAUSTED or UNIMPLEMENTED); `aborted`: abort() here.
   */
  readonly cause: 'half-close' | 'status' | 'ended' | 'cancelled' | 'malformed' | 'aborted';
  /** gRPC status code (0 = OK). */
  readonly code: number;
  /** Words for the log. */
  readonly details: string;
}

/** What the owner of a stream is told. Handlers never throw into the stream: a throw aborts that stream alone. */
export interface PacketStreamHandler {
  onPacket(packet: Packet): void;
  /** The stream fell below its high-water mark after send() had returned false. */
  onDrain(): void;
  /** Exactly once, after the last onPacket. */
  onEnd(end: StreamEnd): void;
}

/**
 * One bidirectional gRPC stream of packets, client or server side. Two implementations (the public grpc-js API;
 * the call's HTTP/2 stream below it) pass one contract suite; nothing else in the project knows which it has.
 */
export interface PacketStream {
  readonly implementation: 'public' | 'fast';
  /** Bytes accepted by send() and not yet taken over by the transport (kernel or HTTP/2 window). */
  readonly bufferedBytes: number;
  /**
   * True until end() or abort() was called or the stream ended otherwise than by half-close. Sending on a closed
   * stream does nothing and returns true.
   */
  readonly open: boolean;
  /** Sets the handler and starts the flow of packets. Called once, in the tick in which the stream was handed out. */
  attach(handler: PacketStreamHandler): void;
  /** Encodes and sends. False means: accepted, but wait for onDrain before sending more of what can wait. */
  send(packet: Packet): boolean;
  /** Sends a gRPC frame (prefix and message) as it stands: an encoded packet, or the frame of a received one. */
  sendFrame(frame: Buffer): boolean;
  /** Sends DATA; the payload is not copied where the transport allows that, so it must not be changed any more. */
  sendData(connectId: number, payload: Buffer): boolean;
  /** Stops the flow of packets; a bounded number that is already here may still arrive. */
  pause(): void;
  resume(): void;
  /**
   * Ends after everything sent so far: a server with this status (packets that still come are dropped, onEnd follows
   * with `ended`), a client by half-close (packets come until the server's status).
   */
  end(code?: number, details?: string): void;
  /**
   * Ends at once, what was not yet sent is dropped; onEnd follows with cause `aborted`. A peer learns the code only
   * from a server that had nothing left to send; otherwise its stream is reset.
   */
  abort(code: number, details: string): void;
  /**
   * Asks the peer's HTTP/2 for an answer. Calls back with the round trip in milliseconds; not at all if the
   * connection ends first. False when this implementation cannot.
   */
  ping(onPong: (roundTripMs: number) => void): boolean;
}
