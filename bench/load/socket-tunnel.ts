import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import { READ_BUFFER } from './read-buffer.ts';
import type { Tunnel, TunnelHandler } from './tunnel.ts';

const HEAD_END = '\r\n\r\n';
const MAX_HEAD_BYTES = 16 * 1024;

/** Where a socket leads. With a context it speaks TLS and shows the context's certificate. */
export type SocketTarget =
  | { readonly path: string }
  | { readonly host: string; readonly port: number; readonly secureContext?: SecureContext };

/** A plain or TLS socket: to the destination itself, or through a CONNECT as kube-apiserver writes it. */
export class SocketTunnel implements Tunnel {
  readonly #socket: Socket;
  readonly #handler: TunnelHandler;
  /** The answer's head as far as it came; undefined once the tunnel is open. */
  #head: string | undefined = '';
  #closing = false;
  #paused = false;
  #fault: string | undefined;

  /** @param target what to send in a CONNECT; none means that the socket leads to the destination */
  constructor(where: SocketTarget, target: string | undefined, handler: TunnelHandler) {
    this.#handler = handler;
    const onread = {
      buffer: READ_BUFFER,
      callback: (bytes: number, buffer: Uint8Array): boolean => {
        this.#read((buffer as Buffer).subarray(0, bytes));
        return !this.#paused;
      },
    };
    const options = { ...where, noDelay: true, onread };
    const secure = 'secureContext' in where && where.secureContext !== undefined;
    this.#socket = secure
      ? connectTls({ ...options, servername: 'localhost' } as object)
      : connect(options as unknown as TcpNetConnectOpts);
    if (target === undefined) {
      this.#socket.once('connect', () => this.#open());
    } else {
      this.#socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    }
    this.#socket.on('drain', () => this.#handler.onDrain());
    // tls.connect() heeds no such option, and what it sends would wait for delayed acknowledgements.
    this.#socket.once('secureConnect', () => this.#socket.setNoDelay(true));
    this.#socket.on('error', (error) => {
      this.#fault ??= error.message;
    });
    this.#socket.on('close', () => {
      if (this.#closing) this.#handler.onClosed(undefined);
      else this.#handler.onClosed(this.#fault ?? 'the tunnel ended by itself');
    });
  }

  send(bytes: Buffer): boolean {
    return this.#socket.write(bytes);
  }

  pause(): void {
    // Takes effect by the answer to the read that is being handled, or to the next one.
    this.#paused = true;
  }

  close(): void {
    this.#closing = true;
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #open(): void {
    this.#head = undefined;
    this.#handler.onOpen();
  }

  #read(bytes: Buffer): void {
    if (this.#head === undefined) {
      this.#handler.onData(bytes);
      return;
    }
    const before = this.#head.length;
    this.#head += bytes.toString('latin1');
    const end = this.#head.indexOf(HEAD_END);
    if (end < 0) {
      if (this.#head.length > MAX_HEAD_BYTES) this.#refuse('the answer to CONNECT has no end');
      return;
    }
    if (!/^HTTP\/1\.[01] 200 /.test(this.#head)) {
      this.#refuse(`CONNECT was answered ${JSON.stringify(this.#head.slice(0, 300))}`);
      return;
    }
    const rest = bytes.subarray(end + HEAD_END.length - before);
    this.#open();
    if (rest.length > 0) this.#handler.onData(rest);
  }

  #refuse(fault: string): void {
    this.#fault = fault;
    this.#socket.destroy();
  }
}
