import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { PacketStream } from './packet-stream.ts';
import { type ServerStreamOptions, serverPacketStream } from './server-stream.ts';

/** A call that a server received, before its PacketStream is made. */
export interface ServerCall {
  /** `host:port` of the client; `unknown` on a Unix socket. */
  readonly peer: string;
  /** As the client said it. */
  readonly userAgent: string | undefined;
  /** Its PacketStream. Call it once, and attach to the stream, in the tick in which the call came. */
  open(options: ServerStreamOptions): PacketStream;
}

/** A call of grpc-js. */
export function grpcServerCall(call: ServerDuplexStream<Buffer, Buffer>): ServerCall {
  const agent = call.metadata.get('user-agent')[0];
  return {
    peer: call.getPeer(),
    userAgent: agent === undefined ? undefined : String(agent),
    open: (options) => serverPacketStream(call, options),
  };
}
