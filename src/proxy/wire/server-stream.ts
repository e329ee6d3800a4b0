import type { ServerHttp2Stream } from 'node:http2';
import { Metadata, type ServerDuplexStream } from '@grpc/grpc-js';
import { FastStream } from './fast-stream.ts';
import { serverHttp2Stream } from './grpc-internals.ts';
import { CANCELLED, type CallSide, type HandledStream, OK, type StreamOptions } from './handled-stream.ts';
import type { PacketStream, StreamEnd } from './packet-stream.ts';
import { PublicStream } from './public-stream.ts';
import { resetStream, resetWhenStalled } from './reset-stream.ts';

export interface ServerStreamOptions extends StreamOptions {
  /** Never reach below the public API of grpc-js, but to reset a stream whose peer does not read. */
  readonly publicOnly?: boolean;
  /** How long a stream that was ended may make no progress towards its peer before it is reset. */
  readonly endStallMs?: number;
  /** Sends the response headers with the first packet, as Go's servers do, and saves a write and a read. */
  readonly headersWithPacket?: boolean;
}

/**
 * The PacketStream of a call that a server received. Response headers go out with it or with its first packet, unless
 * the handler sent its own (`call.sendMetadata`) before. Attach in the same tick.
 */
export function serverPacketStream(
  call: ServerDuplexStream<Buffer, Buffer>,
  options: ServerStreamOptions = {},
): PacketStream {
  if (options.headersWithPacket !== true) call.sendMetadata(new Metadata());
  const below = options.publicOnly === true ? undefined : serverHttp2Stream(call);
  const stream = below === undefined ? publicStream(call, options) : fastStream(call, below, options);
  if (call.cancelled || call.destroyed || below?.destroyed === true) {
    stream.conclude({
      cause: 'cancelled',
      code: CANCELLED,
      details: 'the call was over before it was taken up',
    });
  }
  return stream;
}

function publicStream(call: ServerDuplexStream<Buffer, Buffer>, options: ServerStreamOptions): HandledStream {
  const own = new OwnStatus(call);
  const below = serverHttp2Stream(call);
  const finish = (code: number, details: string): void => {
    if (own.sent === undefined && below !== undefined)
      resetWhenStalled(below, () => stream.bufferedBytes, options.endStallMs);
    own.send(code, details);
  };
  const reset = (code: number, details: string): void => {
    if (below === undefined || stream.bufferedBytes === 0) finish(code, details);
    else {
      // Behind all that waits a status would free nothing; and only the call's destruction frees what it holds.
      resetStream(below, code);
      call.destroy();
    }
  };
  const stream: PublicStream = new PublicStream(call, { role: 'server', finish, reset }, options);
  call.once('cancelled', () =>
    stream.conclude(own.sent ?? { cause: 'cancelled', code: CANCELLED, details: GONE }),
  );
  return stream;
}

const GONE = 'the client reset the stream or its connection was lost';

function fastStream(
  call: ServerDuplexStream<Buffer, Buffer>,
  below: ServerHttp2Stream,
  options: ServerStreamOptions,
): HandledStream {
  const own = new OwnStatus(call);
  let finished = false;
  const finish = (code: number, details: string): void => {
    finished = true;
    own.send(code, details);
  };
  const ending = (): void => resetWhenStalled(below, () => stream.bufferedBytes, options.endStallMs);
  const side: CallSide = {
    role: 'server',
    ...(options.headersWithPacket === true ? { opening: () => call.sendMetadata(new Metadata()) } : {}),
    ending,
    finish,
    reset: (code, details) => {
      // A status passes at once where nothing waits before it, and tells the client more than a reset.
      if (!finished && stream.bufferedBytes === 0) {
        ending();
        finish(code, details);
      } else resetStream(below, code);
    },
  };
  // grpc-js would go on to read beside us, and pause the stream at every message that nobody asks it for.
  below.removeAllListeners('data');
  const stream: FastStream = new FastStream(below, [], side, options);
  call.once('cancelled', () => {
    const sent = below.sentTrailers === undefined ? undefined : own.sent;
    if (sent !== undefined) {
      // The client ends its side when it has read the status. A reset would tell it that it may (RFC 9113, 8.1), but
      // of Node's clients it takes what they have not read: only one that does not end gets it, when it has stalled.
      stream.conclude(sent);
    } else stream.concludeCut();
  });
  return stream;
}

/** The status that this side gives a call. */
class OwnStatus {
  /** How the stream ended once `cancelled` came, if a status was sent before. */
  sent: StreamEnd | undefined;
  readonly #call: ServerDuplexStream<Buffer, Buffer>;

  constructor(call: ServerDuplexStream<Buffer, Buffer>) {
    this.#call = call;
  }

  /** Sends the status behind everything that was written. */
  readonly send = (code: number, details: string): void => {
    if (this.sent !== undefined) return;
    this.sent = { cause: 'ended', code, details };
    // The way in which the public API of grpc-js takes a status: it ends the call, too.
    if (code === OK) this.#call.end();
    else this.#call.emit('error', { code, details });
  };
}
