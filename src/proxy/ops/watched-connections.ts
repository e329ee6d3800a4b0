import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ChannelCredentials } from '@grpc/grpc-js';

/** The connections of one channel. */
export class WatchedConnections {
  readonly credentials: ChannelCredentials;
  readonly #sockets = new Set<Socket>();
  #ended = false;

  /** Makes `credentials` tell of each connection, after its TLS handshake if there is one; grpc-js itself does not. */
  constructor(credentials: ChannelCredentials, onConnected: (socket: Socket | TLSSocket) => void = () => {}) {
    const createConnector = credentials._createSecureConnector.bind(credentials);
    credentials._createSecureConnector = (...parts) => {
      const connector = createConnector(...parts);
      return {
        connect: async (socket) => {
          this.#sockets.add(socket);
          socket.once('close', () => this.#sockets.delete(socket));
          if (this.#ended) socket.destroy();
          const connected = await connector.connect(socket);
          onConnected(connected.socket);
          return connected;
        },
        waitForReady: () => connector.waitForReady(),
        getCallCredentials: () => connector.getCallCredentials(),
        destroy: () => connector.destroy(),
      };
    };
    this.credentials = credentials;
  }

  /**
   * Ends those that are still open after `withinMs`, and those to come; call it with the close of their channel. A
   * closed channel waits for ever for the first word of a silent server, and for a connection that takes nothing more.
   */
  endWithin(withinMs: number): void {
    setTimeout(() => this.destroy(), withinMs).unref();
  }

  /** Ends them all at once, and those to come. */
  destroy(): void {
    this.#ended = true;
    for (const socket of this.#sockets) socket.destroy();
  }
}
