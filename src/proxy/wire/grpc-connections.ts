import http2, { type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { type Server, ServerCredentials } from '@grpc/grpc-js';
import { http2Servers, takeStreams } from './grpc-internals.ts';

/** How long a connection on which all is over may take to say so. */
export const DEFAULT_END_STALL_MS = 30_000;

/** What may be told of connections. */
export interface GrpcConnectionsOptions {
  /** Default 30 s. */
  readonly endStallMs?: number;
  /** Connections beyond that many are ended at once; no bound without. */
  readonly mostConnections?: number;
  /** The last stream of a connection is over; it has one again. */
  onIdle?(socket: Socket): void;
  onBusy?(socket: Socket): void;
  /** A connection on which no stream was begun for that long is destroyed; never without. */
  readonly firstStreamTimeoutMs?: number;
  /** A connection closed, and no stream was ever begun on it. */
  onUnused?(): void;
  onSession?(session: ServerHttp2Session, socket: Socket): void;
  /** A connection broke the HTTP/2 protocol, or failed; it is ended, and nothing else. */
  onSessionError?(session: ServerHttp2Session, error: Error): void;
}

interface Connection {
  session: ServerHttp2Session | undefined;
  readonly streams: Set<ServerHttp2Stream>;
  /** No stream was begun yet. */
  unused: boolean;
  /** Ends that. */
  timer: NodeJS.Timeout | undefined;
  /** The client said GOAWAY. */
  leaving: boolean;
  /** Nothing of it lived at the last look. */
  dead: boolean;
}

/**
 * The connections of a grpc-js server, accepted elsewhere: it does not know them without channelz. Node loses a
 * session that is destroyed, or whose last stream is reset, while a write to a peer that reads nothing is under way:
 * neither the reset nor the end of the connection ever comes. Such connections are looked for, and destroyed.
 */
export class GrpcConnections {
  readonly #server: Server;
  readonly #injector: ReturnType<Server['createConnectionInjector']>;
  readonly #connections = new Map<Socket, Connection>();
  readonly #options: GrpcConnectionsOptions;
  readonly #look: NodeJS.Timeout;
  #injecting: Socket | undefined;
  #closed: Promise<void> | undefined;

  /** @param server nothing else gives it connections */
  constructor(server: Server, options: GrpcConnectionsOptions = {}) {
    this.#server = server;
    this.#options = options;
    this.#injector = server.createConnectionInjector(ServerCredentials.createInsecure());
    for (const http2Server of http2Servers(server) ?? []) {
      http2Server.on('session', (session: ServerHttp2Session) => this.#onSession(session));
      http2Server.on('sessionError', (error: Error, session: ServerHttp2Session) =>
        options.onSessionError?.(session, error),
      );
    }
    // grpc-js answers a call that it does not serve even if it is over by then, and Node throws; and it serves HEAD, whose
    // answers have no body.
    takeStreams(server, endAtOnce);
    this.#look = setInterval(() => this.#endDead(), options.endStallMs ?? DEFAULT_END_STALL_MS).unref();
  }

  /** How many are open. */
  get size(): number {
    return this.#connections.size;
  }

  /**
   * Serves an accepted connection: TCP, Unix, or TLS after its handshake (ALPN h2). After close(), and beyond the
   * bound, the connection is destroyed.
   */
  inject(socket: Socket): void {
    const { mostConnections = Number.POSITIVE_INFINITY } = this.#options;
    if (this.#closed !== undefined || socket.destroyed || this.size >= mostConnections) {
      socket.destroy();
      return;
    }
    const { firstStreamTimeoutMs } = this.#options;
    const timer =
      firstStreamTimeoutMs === undefined ? undefined : setTimeout(destroy, firstStreamTimeoutMs, socket);
    const connection: Connection = {
      session: undefined,
      streams: new Set(),
      unused: true,
      timer,
      leaving: false,
      dead: false,
    };
    this.#connections.set(socket, connection);
    // Before Node's own listener, which does the same, and makes an error object first: clients often leave behind the
    // status without ending their side of the stream.
    socket.on('close', () => {
      this.#connections.delete(socket);
      if (connection.unused) {
        clearTimeout(connection.timer);
        this.#options.onUnused?.();
      }
      for (const stream of connection.streams) {
        stream.close(http2.constants.NGHTTP2_CANCEL);
        stream.destroy();
      }
    });
    // HTTP/2 knows no half-open connection. Node's would keep the session of a client that is gone until a ping fails.
    socket.allowHalfOpen = false;
    this.#injecting = socket;
    this.#injector.injectConnection(socket);
    this.#injecting = undefined;
  }

  /** Ends every connection at once; resolves when all are closed. */
  close(): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  #onSession(session: ServerHttp2Session): void {
    const socket = this.#injecting;
    const connection = socket === undefined ? undefined : this.#connections.get(socket);
    if (socket === undefined || connection === undefined) return;
    connection.session = session;
    // Node calls it at the client's GOAWAY, and then refuses the streams that come all the same: in the midst of reading
    // them, so that nghttp2 goes on with a stream that is freed (Node 20.20), and the heap of the process is spoiled.
    session.close = () => {
      connection.leaving = true;
      setImmediate(endLeft, connection);
    };
    session.on('stream', (stream: ServerHttp2Stream) => {
      connection.streams.add(stream);
      if (connection.unused) {
        connection.unused = false;
        clearTimeout(connection.timer);
      }
      this.#options.onBusy?.(socket);
      stream.on('close', () => {
        connection.streams.delete(stream);
        if (connection.streams.size === 0) this.#options.onIdle?.(socket);
        if (connection.leaving) setImmediate(endLeft, connection);
        setImmediate(forget, stream);
      });
    });
    session.on('close', () => setImmediate(forget, session));
    this.#options.onSession?.(session, socket);
  }

  #endDead(): void {
    for (const [socket, connection] of this.#connections) {
      const dead = isDead(connection);
      if (dead && connection.dead) socket.destroy();
      connection.dead = dead;
    }
  }

  async #closeAll(): Promise<void> {
    clearInterval(this.#look);
    const ends = [...this.#connections.keys()].map(
      (socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())),
    );
    this.#injector.destroy();
    this.#server.forceShutdown();
    for (const socket of this.#connections.keys()) socket.destroy();
    await Promise.all(ends);
  }
}

/**
 * Node's object below a session or a stream keeps it, and with it all its listeners know, until the old generation is
 * collected. They are not called any more.
 */
function forget(closed: ServerHttp2Session | ServerHttp2Stream): void {
  // Which would otherwise be told of each that goes.
  closed.removeAllListeners('removeListener');
  closed.removeAllListeners();
  closed.on('error', ignore);
}

/** Ends the connection of a client that is leaving once none of its streams is left; what was written still goes. */
function endLeft({ session, streams }: Connection): void {
  if (streams.size === 0) session?.destroy();
}

/** Has a stream that its client reset at once end here, and one that is no POST (405, as Go's servers answer it). */
function endAtOnce(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): boolean {
  const over = stream.closed || stream.destroyed;
  if (!over && headers[':method'] === 'POST') return false;
  stream.on('error', ignore).resume();
  if (!over) stream.respond({ ':status': 405 }, { endStream: true });
  return true;
}

function destroy(socket: Socket): void {
  socket.destroy();
}

function ignore(): void {}

/** The session was destroyed, or each stream of it that is left was reset here. */
function isDead({ session, streams }: Connection): boolean {
  if (session === undefined) return false;
  if (session.destroyed) return true;
  return streams.size > 0 && [...streams].every((stream) => stream.closed);
}
