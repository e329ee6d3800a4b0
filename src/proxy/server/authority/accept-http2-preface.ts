import type { Socket } from 'node:net';
import { Fault } from '../../ops/fault.ts';
import { type Opening, readOpening } from './opening.ts';

/** An empty SETTINGS frame. grpc-go holds its first HEADERS back until it has seen the server's SETTINGS. */
const EMPTY_SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
/** The client's frames up to its first header block are small; what may follow it is a window of DATA. */
const MAX_OPENING_BYTES = 192 * 1024;

type Opened = Extract<Opening, { readonly kind: 'complete' }>;

export interface PrefaceOptions {
  readonly timeoutMs: number;
}

/**
 * Makes the gRPC clients of Kubernetes up to 1.28 acceptable on a Unix socket: they send the socket's path as
 * `:authority` (`/etc/x.sock`), for which nghttp2, below Node's HTTP/2, resets the stream before anyone sees it.
 * Reads the connection's opening, rewrites that value, and gives all bytes back to the socket, which can then be
 * handed to HTTP/2. Later bytes never come this way.
 * @returns whether it had to be rewritten
 * @throws Fault `not-http2`, `preface-timeout`, `preface-lost`; the socket is left to the caller
 */
export function acceptHttp2Preface(socket: Socket, { timeoutMs }: PrefaceOptions): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0);
    const settle = (outcome: Opened | Fault): void => {
      clearTimeout(timer);
      socket.off('data', onData);
      socket.off('close', onGone);
      socket.off('end', onGone);
      socket.pause();
      if (outcome instanceof Fault) reject(outcome);
      else {
        socket.unshift(outcome.bytes);
        resolve(outcome.mended);
      }
    };
    const onData = (chunk: Buffer): void => {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      const opening = readOpening(bytes);
      if (opening.kind === 'complete') settle(opening);
      else if (opening.kind === 'not-http2')
        settle(new Fault('not-http2', 'the client does not speak HTTP/2'));
      else if (bytes.length > MAX_OPENING_BYTES) {
        settle(new Fault('not-http2', `no request within the first ${MAX_OPENING_BYTES} bytes`));
      }
    };
    const onGone = (): void => settle(new Fault('preface-lost', 'the client left before its first request'));
    const timer = setTimeout(
      () => settle(new Fault('preface-timeout', `no request within ${timeoutMs / 1000} s`)),
      timeoutMs,
    );
    socket.on('data', onData);
    socket.once('end', onGone);
    socket.once('close', onGone);
    socket.write(EMPTY_SETTINGS);
  });
}
