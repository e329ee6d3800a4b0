import type { Socket } from 'node:net';
import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { type CallCredentials, ChannelCredentials, credentials, experimental } from '@grpc/grpc-js';
import type { ClientTls } from './tls-files.ts';

export interface ChannelCredentialsOptions {
  /** The name or IP that the server's certificate must have; the host of the channel's target by default. */
  readonly serverName?: string;
  /** Offered beside h2 (upstream's --alpn-proto). */
  readonly alpn?: readonly string[];
  /** For the TLS handshake, and then for the server's first bytes; default 10,000. grpc-js would wait for ever. */
  readonly handshakeTimeoutMs?: number;
  /** Every error of the TLS connection, as Node gives it; grpc-js itself passes on no more than its text. */
  readonly onError?: (error: unknown) => void;
}

/**
 * TLS for a grpc-js channel. Unlike grpc-js' own: no SNI for an IP (RFC 6066 forbids it, Node 26 throws) while the IP
 * is still verified; and `tls` may be a function, asked at each connection, so that files can be replaced.
 */
export function channelCredentials(
  tls: ClientTls | (() => ClientTls),
  options: ChannelCredentialsOptions = {},
): ChannelCredentials {
  return new TlsChannelCredentials(typeof tls === 'function' ? tls : () => tls, options);
}

type Target = Parameters<ChannelCredentials['_createSecureConnector']>[0];
type Connector = experimental.SecureConnector;

class TlsChannelCredentials extends ChannelCredentials {
  readonly #tls: () => ClientTls;
  readonly #options: ChannelCredentialsOptions;

  constructor(tls: () => ClientTls, options: ChannelCredentialsOptions) {
    super();
    this.#tls = tls;
    this.#options = options;
  }

  override _isSecure(): boolean {
    return true;
  }

  override _equals(other: ChannelCredentials): boolean {
    return this === other;
  }

  override _createSecureConnector(target: Target, _: unknown, calls?: CallCredentials): Connector {
    const host = this.#options.serverName ?? experimental.splitHostPort(target.path)?.host ?? target.path;
    return {
      connect: async (socket) => ({ socket: await this.#connect(socket, host), secure: true }),
      waitForReady: () => Promise.resolve(),
      getCallCredentials: () => calls ?? credentials.createEmpty(),
      destroy: () => {},
    };
  }

  #connect(socket: Socket, host: string): Promise<TLSSocket> {
    const timeoutMs = this.#options.handshakeTimeoutMs ?? 10_000;
    return new Promise((resolve, reject) => {
      const secured = connect({
        socket,
        host,
        servername: isIP(host) === 0 ? host : '',
        secureContext: this.#tls().secureContext,
        ALPNProtocols: ['h2', ...(this.#options.alpn ?? [])],
      });
      const giveUp = (): void => {
        if (secured.bytesRead === 0) secured.destroy(new Error('TLS handshake timeout'));
      };
      let timer = setTimeout(giveUp, timeoutMs);
      secured.once('secureConnect', () => {
        clearTimeout(timer);
        timer = setTimeout(giveUp, timeoutMs).unref();
        resolve(secured);
      });
      secured.once('close', () => {
        clearTimeout(timer);
        reject(new Error('Connection closed in the TLS handshake'));
      });
      secured.on('error', (error) => {
        this.#options.onError?.(error);
        reject(error);
      });
    });
  }
}
