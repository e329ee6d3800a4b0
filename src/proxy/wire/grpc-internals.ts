import type {
  ClientHttp2Stream,
  Http2Server,
  Http2Stream,
  IncomingHttpHeaders,
  ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';

/**
 * The one place that reaches below the public API of grpc-js (written for 1.14.7, which package.json pins). Each
 * function looks for what it needs and returns undefined where it is not found: its caller then does without.
 */

/** The names that are looked for in objects of grpc-js; nothing is known of their values. */
interface Unknown {
  readonly call?: unknown;
  readonly nextCall?: unknown;
  readonly child?: unknown;
  readonly underlyingCalls?: unknown;
  readonly committedCallIndex?: unknown;
  readonly stream?: unknown;
  readonly http2Stream?: unknown;
  readonly canPush?: unknown;
  readonly isPushPending?: unknown;
  readonly unpushedReadMessages?: unknown;
  readonly decoder?: unknown;
  readonly readState?: unknown;
  readonly readCompressFlag?: unknown;
  readonly readPartialSize?: unknown;
  readonly readSizeRemaining?: unknown;
  readonly readPartialMessage?: unknown;
  readonly http2Servers?: unknown;
  readonly commonServerOptions?: unknown;
  settings?: unknown;
}

/** How deep calls are nested at most: interceptors, resolving, retrying, load balancing, subchannel. */
const MOST_LAYERS = 16;

/** The HTTP/2 stream of a server call (`ServerDuplexStream`). */
export function serverHttp2Stream(call: unknown): ServerHttp2Stream | undefined {
  let layer = member(call, 'call');
  for (let depth = 0; depth < MOST_LAYERS && layer !== undefined; depth++) {
    const stream = layer.stream;
    if (isHttp2Stream(stream)) return stream as ServerHttp2Stream;
    layer = member(layer, 'nextCall');
  }
  return undefined;
}

/** The connection of a server call: for its remote address and peer certificate. */
export function serverCallSocket(call: unknown): Socket | undefined {
  return serverHttp2Stream(call)?.session?.socket as Socket | undefined;
}

/** A client call's HTTP/2 stream and the bytes that grpc-js had already read from it. */
export interface TakenStream {
  readonly stream: ClientHttp2Stream;
  readonly received: readonly Buffer[];
}

/**
 * Takes a client call's HTTP/2 stream over; the caller removes the 'data' listeners in the same tick. Possible from
 * the arrival of the response headers on, and as long as nothing was read from the call.
 */
export function takeClientHttp2Stream(call: unknown): TakenStream | undefined {
  let layer = member(call, 'call');
  for (let depth = 0; depth < MOST_LAYERS && layer !== undefined; depth++) {
    if (isHttp2Stream(layer.http2Stream)) return takeFromSubchannelCall(layer, layer.http2Stream);
    layer = nextClientLayer(layer);
  }
  return undefined;
}

function nextClientLayer(layer: Unknown): Unknown | undefined {
  const attempts = layer.underlyingCalls;
  if (Array.isArray(attempts)) {
    const index = layer.committedCallIndex;
    return member(attempts[typeof index === 'number' ? index : attempts.length - 1], 'call');
  }
  return member(layer, 'child') ?? member(layer, 'nextCall') ?? member(layer, 'call');
}

function takeFromSubchannelCall(call: Unknown, stream: Http2Stream): TakenStream | undefined {
  const unread = call.unpushedReadMessages;
  const decoder = member(call, 'decoder');
  if (call.canPush !== false || call.isPushPending !== false) return undefined;
  if (!Array.isArray(unread) || decoder === undefined) return undefined;
  const partial = partOfMessage(decoder);
  if (partial === undefined) return undefined;
  // grpc-js holds back an OK status for as long as it has unread messages.
  const received: Buffer[] = [...unread.splice(0), ...partial];
  return { stream: stream as ClientHttp2Stream, received };
}

/** What a StreamDecoder has read of a message that is not complete. */
function partOfMessage(decoder: Unknown): Buffer[] | undefined {
  const { readState, readCompressFlag, readPartialSize, readSizeRemaining, readPartialMessage } = decoder;
  if (readState === 0) return [];
  if (typeof readSizeRemaining !== 'number' || !Buffer.isBuffer(readCompressFlag)) return undefined;
  if (!Buffer.isBuffer(readPartialSize) || !Array.isArray(readPartialMessage)) return undefined;
  return [readCompressFlag, readPartialSize.subarray(0, 4 - readSizeRemaining), ...readPartialMessage];
}

/** Sets the stream window that a grpc-js server announces; call it before any listener or injector is made. */
export function setServerWindow(server: unknown, windowBytes: number): true | undefined {
  const options = member(server, 'commonServerOptions');
  if (options === undefined) return undefined;
  options.settings = { ...member(options, 'settings'), initialWindowSize: windowBytes };
  return true;
}

/** The HTTP/2 servers inside a grpc-js server; call it after its listeners or injectors were made. */
export function http2Servers(server: unknown): Http2Server[] | undefined {
  const servers = (server as Unknown).http2Servers;
  if (!(servers instanceof Map) || servers.size === 0) return undefined;
  const found = [...servers.keys()];
  return found.every((one) => typeof one?.on === 'function') ? found : undefined;
}

type StreamListener = (this: Http2Server, stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

/**
 * Has new streams go by grpc-js: those that `take` takes never reach it, the others do as before. The one
 * given last is asked first. Call it after the server's listeners or injectors were made.
 */
export function takeStreams(
  server: unknown,
  take: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => boolean,
): true | undefined {
  const servers = http2Servers(server);
  if (servers === undefined || servers.some((one) => one.listenerCount('stream') !== 1)) return undefined;
  for (const one of servers) {
    const [before] = one.listeners('stream') as [StreamListener];
    one.removeAllListeners('stream');
    one.on('stream', (stream, headers) => {
      if (!take(stream, headers)) before.call(one, stream, headers);
    });
  }
  return true;
}

function member(of: unknown, name: keyof Unknown): Unknown | undefined {
  const value = of === null || typeof of !== 'object' ? undefined : (of as Unknown)[name];
  return value === null || typeof value !== 'object' ? undefined : (value as Unknown);
}

function isHttp2Stream(value: unknown): value is Http2Stream {
  const stream = value as Partial<Http2Stream> | null | undefined;
  return (
    stream !== null &&
    typeof stream === 'object' &&
    typeof stream.write === 'function' &&
    typeof stream.close === 'function' &&
    typeof stream.removeAllListeners === 'function' &&
    typeof stream.writableLength === 'number' &&
    'session' in stream
  );
}
