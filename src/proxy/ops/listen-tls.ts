import type { Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { Fault } from './fault.ts';
import { bindTcp } from './listen-tcp.ts';
import { acceptOptions, type Listener, type ListenerOptions, peerOf } from './listener.ts';
import { handshakeFault } from './tls-errors.ts';
import type { ServerTls } from './tls-files.ts';

export interface TlsListenerOptions extends ListenerOptions<TLSSocket> {
  readonly host: string;
  readonly port: number;
  readonly tls: ServerTls;
  /** Default 10,000. */
  readonly handshakeTimeoutMs?: number;
  /** Protocols of which the client must offer one (`['h2']`); none: ALPN is not spoken. */
  readonly alpn?: readonly string[];
  /** A connection that did not come to be: `remote` is its address, the Fault says who refused what. */
  readonly onHandshakeError: (remote: string, fault: Fault) => void;
}

export interface TlsListener extends Listener {
  /** New handshakes use these files from now on; open connections stay. Whether clients need a certificate stays too. */
  setSecureContext(tls: ServerTls): void;
}

/** Listens for TLS and hands over sockets whose handshake is done. Rejects with the Faults of bindFault. */
export async function listenTls(options: TlsListenerOptions): Promise<TlsListener> {
  const handshaking = new Set<Socket>();
  let closed = false;
  const server = createServer({
    ...acceptOptions,
    // Half-open only once the handshake is done: before it, the end of the client is a hang-up.
    allowHalfOpen: false,
    ...options.tls.options,
    handshakeTimeout: options.handshakeTimeoutMs ?? 10_000,
    ...(options.alpn === undefined ? {} : { ALPNProtocols: [...options.alpn] }),
  });
  const fail = (remote: string, fault: Fault): void => {
    if (!closed) options.onHandshakeError(remote, fault);
  };
  server.on('connection', (raw: Socket) => {
    // Read now: the address of a socket that was reset is gone, unless it was asked for before.
    void raw.remoteAddress;
    raw.on('error', () => {});
    handshaking.add(raw);
    raw.once('close', () => handshaking.delete(raw));
    options.newcomers?.accepted(raw);
  });
  server.on('tlsClientError', (error, socket) => {
    if (options.newcomers?.gaveUp(rawOf(socket)) !== true) {
      fail(remoteOf(socket), handshakeFault(error, socket));
    }
    socket.destroy();
  });
  server.on('secureConnection', (socket) => {
    handshaking.delete(rawOf(socket));
    socket.on('error', () => {});
    options.newcomers?.replaced(rawOf(socket), socket);
    socket.allowHalfOpen = true;
    if (closed) {
      socket.destroy();
    } else if (options.alpn !== undefined && !socket.alpnProtocol) {
      fail(remoteOf(socket), noProtocol(options.alpn));
      socket.destroy();
    } else {
      options.onConnection(socket);
    }
  });
  const listener = await bindTcp(server, options);
  return {
    ...listener,
    setSecureContext: (tls) => server.setSecureContext(tls.options),
    close: async () => {
      closed = true;
      for (const raw of handshaking) raw.destroy();
      await listener.close();
    },
  };
}

function noProtocol(alpn: readonly string[]): Fault {
  return new Fault(
    'no-alpn',
    `the client offered no protocol by ALPN, and this port speaks ${alpn.join(', ')} only`,
  );
}

function remoteOf(socket: TLSSocket): string {
  return peerOf(rawOf(socket));
}

/** Ends an accepted TLS connection by a TCP reset. */
export function resetBelowTls(socket: TLSSocket): void {
  const raw = rawOf(socket);
  if (raw !== socket) raw.resetAndDestroy();
  socket.destroy();
}

/** The TCP socket below. Node has no public name for it; without it the address of a lost peer is not known. */
function rawOf(socket: TLSSocket): Socket {
  return (socket as { _parent?: Socket })._parent ?? socket;
}
