import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { FastStream } from './fast-stream.ts';
import type { CallSide } from './handled-stream.ts';
import type { PacketStream, StreamEnd } from './packet-stream.ts';
import { resetStream, resetWhenStalled } from './reset-stream.ts';
import type { ServerCall } from './server-call.ts';
import type { ServerStreamOptions } from './server-stream.ts';

const HEADERS = { ':status': 200, 'content-type': 'application/grpc+proto' };
const WITH_TRAILERS = { waitForTrailers: true };
const WITHOUT_BODY = { endStream: true };

/**
 * A call of a client served on its HTTP/2 stream, past grpc-js (gRPC over HTTP/2, "Responses"). kube-apiserver makes a
 * connection and a call for each dial, of which one of grpc-js is a tenth of the server's CPU.
 */
export class DirectCall implements CallSide, ServerCall {
  readonly role = 'server';
  readonly userAgent: string | undefined;
  readonly #below: ServerHttp2Stream;
  #stream: FastStream | undefined;
  #endStallMs: number | undefined;
  /** The status that this side gave. */
  #status: StreamEnd | undefined;

  constructor(below: ServerHttp2Stream, headers: IncomingHttpHeaders) {
    this.#below = below;
    this.userAgent = headers['user-agent'];
  }

  get peer(): string {
    const socket = this.#below.session?.socket;
    return socket?.remoteAddress === undefined ? 'unknown' : `${socket.remoteAddress}:${socket.remotePort}`;
  }

  open(options: ServerStreamOptions): PacketStream {
    const stream = new FastStream(this.#below, [], this, options);
    this.#stream = stream;
    this.#endStallMs = options.endStallMs;
    if (options.headersWithPacket !== true) this.opening();
    if (this.#below.destroyed) this.closed();
    return stream;
  }

  opening(): void {
    if (!this.#over && !this.#below.headersSent) this.#below.respond(HEADERS, WITH_TRAILERS);
  }

  ending(): void {
    resetWhenStalled(this.#below, () => this.#stream?.bufferedBytes ?? 0, this.#endStallMs);
  }

  finish(code: number, details: string): void {
    if (this.#status !== undefined) return;
    const status: StreamEnd = { cause: 'ended', code, details };
    this.#status = status;
    if (this.#over) return;
    const trailers = { 'grpc-status': code, 'grpc-message': percentEncoded(details) };
    if (!this.#below.headersSent) {
      this.#below.respond({ ...HEADERS, ...trailers }, WITHOUT_BODY);
      // Later, as behind trailers: the cause is said first by whoever refused what came, or gave the stream up.
      process.nextTick(() => this.#stream?.conclude(status));
      return;
    }
    this.#below.on('wantTrailers', () => {
      this.#below.sendTrailers(trailers);
      // The client ends its side when it has read the status. A reset would tell it that it may (RFC 9113, 8.1), but
      // of Node's clients it takes what they have not read: only one that does not end gets it, when it has stalled.
      this.#stream?.conclude(status);
    });
    this.#below.end();
  }

  reset(code: number, details: string): void {
    if (this.#status === undefined && this.#stream?.bufferedBytes === 0) {
      // A status passes at once where nothing waits before it, and tells the client more than a reset.
      this.ending();
      this.finish(code, details);
    } else resetStream(this.#below, code);
  }

  closed(): void {
    this.#stream?.concludeCut();
  }

  get #over(): boolean {
    return this.#below.destroyed || this.#below.closed;
  }
}

/** As `grpc-message` goes over the wire; what is no text at all is left out. */
function percentEncoded(details: string): string {
  try {
    return encodeURI(details);
  } catch {
    return '';
  }
}
