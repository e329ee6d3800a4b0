import type { IncomingHttpHeaders, ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { Server, type ServerDuplexStream } from '@grpc/grpc-js';
import { DEFAULT_SERVER_WINDOW_BYTES, LINK_HTTP2_WINDOW_BYTES } from './client-options.ts';
import { DirectCall } from './direct-call.ts';
import { GrpcConnections } from './grpc-connections.ts';
import { setServerWindow, takeStreams } from './grpc-internals.ts';
import { DEFAULT_MAX_MESSAGE_BYTES } from './handled-stream.ts';
import { endWhenIdle } from './idle-session.ts';
import { grpcServerCall, type ServerCall } from './server-call.ts';
import { identity } from './services.ts';

/** Takes a call up, within the same tick: makes its PacketStream or ends it. */
export type CallHandler = (call: ServerDuplexStream<Buffer, Buffer>) => void;

export interface GrpcServerOptions {
  /** The bidirectional methods by path; every other path is answered UNIMPLEMENTED. */
  readonly handlers: Readonly<Record<string, CallHandler>>;
  /** Bidirectional methods that are served past grpc-js where that is possible, and as by `handlers` otherwise. */
  readonly direct?: Readonly<Record<string, (call: ServerCall) => void>>;
  /** HTTP/2 flow control window of each stream, and what one that is not read may hold. */
  readonly windowBytes?: number;
  readonly maxMessageBytes?: number;
  /** HTTP/2 pings while nothing else comes; none without. */
  readonly keepaliveTimeMs?: number;
  readonly keepaliveTimeoutMs?: number;
  /** A connection without any open stream for that long is ended, also before its first one; never without. */
  readonly idleTimeoutMs?: number;
  /** How long a connection may take nothing of its end before it is cut; default 30 s. */
  readonly endStallMs?: number;
  /** A connection has no stream any more; has one again. */
  readonly onIdle?: (socket: Socket) => void;
  readonly onBusy?: (socket: Socket) => void;
  /** A connection on which no stream was begun for that long is destroyed; never without. */
  readonly firstStreamTimeoutMs?: number;
  /** A connection closed, and no stream was ever begun on it. */
  readonly onUnused?: () => void;
  /** A connection broke the HTTP/2 protocol, or failed; it is ended, and nothing else. For a line in the log. */
  readonly onSessionError?: (remote: string, error: Error) => void;
}

export interface GrpcServer {
  /**
   * Serves an accepted connection: TCP, Unix, or TLS after its handshake (ALPN h2). The caller listens. After close()
   * the connection is destroyed.
   */
  injectConnection(socket: Socket): void;
  /** Connections that are open. */
  readonly sessions: number;
  /** Ends every connection at once, resolves when all are closed. */
  close(): Promise<void>;
}

/** A gRPC server on connections that are accepted elsewhere. */
export function createGrpcServer(options: GrpcServerOptions): GrpcServer {
  const windowBytes = options.windowBytes ?? DEFAULT_SERVER_WINDOW_BYTES;
  const server = new Server({
    'grpc.enable_channelz': 0,
    'grpc.max_receive_message_length': options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': -1,
    ...(options.keepaliveTimeMs === undefined ? {} : { 'grpc.keepalive_time_ms': options.keepaliveTimeMs }),
    ...(options.keepaliveTimeoutMs === undefined
      ? {}
      : { 'grpc.keepalive_timeout_ms': options.keepaliveTimeoutMs }),
  });
  setServerWindow(server, windowBytes);
  for (const [path, handler] of Object.entries(options.handlers)) {
    server.register(path, handler, identity, identity, 'bidi');
  }
  // A path is the client's word: as a key of an object it would also find what every object has.
  const direct = new Map(Object.entries(options.direct ?? {}));
  for (const [path, handler] of direct) {
    const handle = (call: ServerDuplexStream<Buffer, Buffer>): void => handler(grpcServerCall(call));
    server.register(path, handle, identity, identity, 'bidi');
  }
  // The address of a session's socket is gone by the time of its error.
  const remotes = new WeakMap<ServerHttp2Session, string>();
  const connections = new GrpcConnections(server, {
    ...(options.endStallMs === undefined ? {} : { endStallMs: options.endStallMs }),
    ...(options.onIdle === undefined ? {} : { onIdle: options.onIdle }),
    ...(options.onBusy === undefined ? {} : { onBusy: options.onBusy }),
    ...(options.firstStreamTimeoutMs === undefined
      ? {}
      : { firstStreamTimeoutMs: options.firstStreamTimeoutMs }),
    ...(options.onUnused === undefined ? {} : { onUnused: options.onUnused }),
    onSession: (session, { remoteAddress, remotePort }) => {
      // Node gives back the window of the connection at once; only those of streams hold anything.
      session.setLocalWindowSize(Math.max(windowBytes, LINK_HTTP2_WINDOW_BYTES));
      if (options.idleTimeoutMs !== undefined) endWhenIdle(session, options.idleTimeoutMs);
      if (remoteAddress !== undefined) remotes.set(session, `${remoteAddress}:${remotePort}`);
    },
    onSessionError: (session, error) =>
      options.onSessionError?.(remotes.get(session) ?? 'a Unix socket', error),
  });

  if (direct.size > 0) {
    takeStreams(server, (stream, headers) => {
      const handler = direct.get(headers[':path'] ?? '');
      if (handler === undefined || !isPlainCall(headers)) return false;
      handler(new DirectCall(stream, headers));
      return true;
    });
  }

  return {
    injectConnection: (socket) => {
      socket.setNoDelay(true);
      connections.inject(socket);
    },
    get sessions() {
      return connections.size;
    },
    close: () => connections.close(),
  };
}

/** A deadline is kept by grpc-js; what is no gRPC is refused by it, and what is no POST by GrpcConnections. */
function isPlainCall(headers: IncomingHttpHeaders): boolean {
  const isGrpc = headers[':method'] === 'POST' && headers['content-type']?.startsWith('application/grpc');
  return isGrpc === true && headers['grpc-timeout'] === undefined;
}
