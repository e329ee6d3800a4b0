import type { Socket } from 'node:net';
import { Server, ServerCredentials } from '@grpc/grpc-js';

/** A request of the admin API is small: 1,000 agent IDs of the longest kind fit. */
const MAX_REQUEST_BYTES = 1024 * 1024;
/** Operators, screens and scripts are some dozens: whoever opens more than this is refused the next ones. */
const MOST_CONNECTIONS = 1_000;
const KEEPALIVE_MS = 30_000;
const KEEPALIVE_TIMEOUT_MS = 10_000;

/** A grpc-js server on connections that are accepted elsewhere, so that listening and TLS stay in our hand. */
export class GrpcHost {
  readonly server = new Server({
    'grpc.enable_channelz': 0,
    'grpc.max_receive_message_length': MAX_REQUEST_BYTES,
    'grpc.max_send_message_length': -1,
    'grpc.keepalive_time_ms': KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
  });
  readonly #injector = this.server.createConnectionInjector(ServerCredentials.createInsecure());
  readonly #sockets = new Set<Socket>();
  readonly #mostConnections: number;
  #closed = false;

  constructor(mostConnections = MOST_CONNECTIONS) {
    this.#mostConnections = mostConnections;
  }

  /** Connections that are open. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Serves an accepted connection, until close(). One beyond the bound is ended. */
  accept(socket: Socket): void {
    if (this.#closed || socket.destroyed || this.#sockets.size >= this.#mostConnections) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    // HTTP/2 knows no half-open connection.
    socket.allowHalfOpen = false;
    this.#injector.injectConnection(socket);
  }

  /** Ends every connection at once; resolves when all are closed. */
  async close(): Promise<void> {
    this.#closed = true;
    const ends = [...this.#sockets].map(
      (socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())),
    );
    this.#injector.destroy();
    this.server.forceShutdown();
    // Without channelz grpc-js does not know its connections.
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(ends);
  }
}
