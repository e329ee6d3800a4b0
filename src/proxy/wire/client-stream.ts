import type { Client, ClientDuplexStream, Metadata, StatusObject } from '@grpc/grpc-js';
import { FastStream } from './fast-stream.ts';
import { takeClientHttp2Stream } from './grpc-internals.ts';
import { CANCELLED, type CallSide, INTERNAL, type StreamOptions, UNAVAILABLE } from './handled-stream.ts';
import type { PacketStream } from './packet-stream.ts';
import { PublicStream } from './public-stream.ts';
import { RpcError } from './rpc-error.ts';
import { identity } from './services.ts';

type Call = ClientDuplexStream<Buffer, Buffer>;

export interface OpenOptions extends StreamOptions {
  /** Never reach below the public API of grpc-js. */
  readonly publicOnly?: boolean;
  /** Gives up opening; an open stream is ended by its owner. */
  readonly signal?: AbortSignal;
}

export interface OpenStream {
  readonly stream: PacketStream;
  /** The response headers. */
  readonly metadata: Metadata;
}

/**
 * Opens a stream to a server that answers with headers before its first packet, as servers do for
 * `AgentService/Connect`. Attach as soon as the promise has resolved.
 * @throws RpcError with the gRPC status when the call ends before its headers came; CANCELLED after `signal`
 */
export function openPacketStream(
  client: Client,
  path: string,
  metadata: Metadata,
  options: OpenOptions = {},
): Promise<OpenStream> {
  return new Promise((resolve, reject) => {
    if (options.signal?.aborted) {
      reject(new RpcError(CANCELLED, 'given up before the call was made'));
      return;
    }
    const call = startCall(client, path, metadata);
    const cancel = (): void => {
      stopWaiting();
      call.cancel();
      reject(new RpcError(CANCELLED, 'given up before the server answered'));
    };
    const onStatus = (status: StatusObject): void => {
      stopWaiting();
      // A status of the server comes with its headers, content-type at least; one made up by grpc-js with none.
      const fromServer = Object.keys(status.metadata.getMap()).length > 0;
      reject(new RpcError(status.code, status.details, fromServer));
    };
    const onMetadata = (headers: Metadata): void => {
      stopWaiting();
      // Still within the event: later, grpc-js would have read ahead of us.
      const taken = options.publicOnly === true ? undefined : takeFast(call, options);
      resolve({ stream: taken ?? publicStream(call, options), metadata: headers });
    };
    const stopWaiting = (): void => {
      options.signal?.removeEventListener('abort', cancel);
      call.off('status', onStatus);
      call.off('metadata', onMetadata);
    };
    options.signal?.addEventListener('abort', cancel, { once: true });
    call.on('status', onStatus);
    call.on('metadata', onMetadata);
  });
}

/**
 * Opens a stream at once, for servers that send no headers before their first packet. What fails comes as the end of
 * the stream. Always the public implementation. Attach in the same tick.
 */
export function openPublicPacketStream(
  client: Client,
  path: string,
  metadata: Metadata,
  options: StreamOptions = {},
): PacketStream {
  return publicStream(startCall(client, path, metadata), options);
}

function startCall(client: Client, path: string, metadata: Metadata): Call {
  const call = client.makeBidiStreamRequest<Buffer, Buffer>(path, identity, identity, metadata, {});
  // Every error comes as a status, too.
  call.on('error', () => {});
  return call;
}

function sideOf(call: Call): CallSide {
  return { role: 'client', finish: () => call.end(), reset: () => call.cancel() };
}

function takeFast(call: Call, options: StreamOptions): PacketStream | undefined {
  const taken = takeClientHttp2Stream(call);
  if (taken === undefined) return undefined;
  const stream = new FastStream(taken.stream, taken.received, sideOf(call), options);
  let answered = false;
  taken.stream.once('trailers', () => {
    answered = true;
  });
  call.on('status', (status: StatusObject) => {
    stream.callEnded({
      cause: answered ? 'status' : 'cancelled',
      code: status.code,
      details: status.details,
    });
  });
  return stream;
}

function publicStream(call: Call, options: StreamOptions): PacketStream {
  const stream = new PublicStream(call, sideOf(call), options);
  call.on('status', (status: StatusObject) => {
    stream.callEnded({
      cause: madeLocally(status) ? 'cancelled' : 'status',
      code: status.code,
      details: status.details,
    });
  });
  return stream;
}

/** Whether grpc-js made this status up because none came; its public API tells only by the words. */
function madeLocally({ code, details }: StatusObject): boolean {
  if (code === UNAVAILABLE)
    return /^(Connection dropped|Stream refused by server|No connection established)/.test(details);
  if (code === CANCELLED) return /^(Call cancelled|Cancelled on client)$/.test(details);
  return code === INTERNAL && details.startsWith('Received RST_STREAM with code');
}
