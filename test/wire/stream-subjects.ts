import http2, {
  type ClientHttp2Session,
  type Http2Session,
  type Http2Stream,
  type IncomingHttpHeaders,
} from 'node:http2';
import net, { type AddressInfo } from 'node:net';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { clientOptions } from '../../src/proxy/wire/client-options.ts';
import { openPacketStream } from '../../src/proxy/wire/client-stream.ts';
import { Deframer } from '../../src/proxy/wire/deframer.ts';
import { createGrpcServer } from '../../src/proxy/wire/grpc-server.ts';
import type { Packet } from '../../src/proxy/wire/packet.ts';
import type { PacketStream, StreamEnd } from '../../src/proxy/wire/packet-stream.ts';
import { serverPacketStream } from '../../src/proxy/wire/server-stream.ts';
import { CONNECT_PATH } from '../../src/proxy/wire/services.ts';

/** Resolves `until` as soon as its condition holds; check() is called after every event that may have changed it. */
export class Changes {
  readonly #waiting = new Set<() => void>();

  check(): void {
    for (const one of [...this.#waiting]) one();
  }

  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!condition()) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }
}

/** A handler that writes down what it is told. */
export class Told {
  readonly packets: Packet[] = [];
  readonly ends: StreamEnd[] = [];
  drains = 0;
  /** Packets that came after the end: none, ever. */
  late = 0;
  react: (packet: Packet) => void = () => {};
  readonly #changes = new Changes();

  onPacket(packet: Packet): void {
    if (this.ends.length > 0) this.late++;
    this.packets.push(packet);
    this.react(packet);
    this.#changes.check();
  }

  onDrain(): void {
    this.drains++;
    this.#changes.check();
  }

  onEnd(end: StreamEnd): void {
    this.ends.push(end);
    this.#changes.check();
  }

  arrived(count: number): Promise<void> {
    return this.#changes.until(() => this.packets.length >= count);
  }

  drained(): Promise<void> {
    return this.#changes.until(() => this.drains > 0);
  }

  async ended(): Promise<StreamEnd> {
    await this.#changes.until(() => this.ends.length > 0);
    return this.ends[0] as StreamEnd;
  }
}

/** The other end of the stream under test: bare HTTP/2, so that it can send anything. */
export class Peer {
  readonly stream: Http2Stream;
  readonly #session: Http2Session | undefined;
  readonly frames: Buffer[] = [];
  trailers: IncomingHttpHeaders | undefined;
  inputEnded = false;
  closed = false;
  readonly #changes = new Changes();
  readonly #deframer = new Deframer(2 ** 31, (frame) => {
    this.frames.push(frame);
    return true;
  });

  constructor(stream: Http2Stream) {
    this.stream = stream;
    this.#session = stream.session;
    stream.on('error', () => {});
    stream.on('trailers', (headers: IncomingHttpHeaders) => {
      this.trailers = headers;
    });
    stream.on('end', () => {
      this.inputEnded = true;
      this.#changes.check();
    });
    stream.on('close', () => {
      this.closed = true;
      this.#changes.check();
    });
  }

  /** Starts reading; until then this peer takes no more than its window. */
  read(): this {
    this.stream.on('data', (chunk: Buffer) => {
      this.#deframer.push(chunk);
      this.#changes.check();
    });
    return this;
  }

  arrived(count: number): Promise<void> {
    return this.#changes.until(() => this.frames.length >= count);
  }

  inputOver(): Promise<void> {
    return this.#changes.until(() => this.inputEnded);
  }

  /** The other end has ended its side; so does this one. */
  async settled(): Promise<void> {
    await this.inputOver();
    this.stream.end();
    await this.over();
  }

  over(): Promise<void> {
    return this.#changes.until(() => this.closed);
  }

  /** Writes and waits until the transport took it, so that each call arrives as a chunk of its own or later. */
  write(bytes: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.stream.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Everything sent before has been read by the other end's HTTP/2 when this resolves. */
  roundTrip(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#session?.ping((error) => (error === null ? resolve() : reject(error)));
    });
  }

  /** Ends this side in order: a client by half-close, a server with that status. */
  finish(code = 0, details = ''): void {
    if ('sendTrailers' in this.stream && typeof this.stream.sendTrailers === 'function') {
      this.stream.once('wantTrailers', () =>
        this.stream.sendTrailers({ 'grpc-status': String(code), 'grpc-message': encodeURI(details) }),
      );
    }
    this.stream.end();
  }
}

export interface Subject {
  readonly stream: PacketStream;
  readonly told: Told;
  readonly peer: Peer;
}

export interface Bounds {
  readonly highWaterMarkBytes?: number;
  readonly maxMessageBytes?: number;
  readonly windowBytes?: number;
  readonly endStallMs?: number;
}

/** One connection with the side under test on one end and bare HTTP/2 on the other. */
export interface Bed {
  open(): Promise<Subject>;
  /** Cuts the connection without a word. */
  cut(): void;
  close(): Promise<void>;
}

export type Side = 'server' | 'client';
/** `direct`: the fast one, of a call that never reached grpc-js. */
export type Implementation = 'fast' | 'public' | 'direct';

export const subjects: readonly (readonly [Side, Implementation])[] = [
  ['server', 'fast'],
  ['server', 'public'],
  ['server', 'direct'],
  ['client', 'fast'],
  ['client', 'public'],
];

export function makeBed(side: Side, implementation: Implementation, bounds: Bounds = {}): Promise<Bed> {
  return side === 'server' ? serverBed(implementation, bounds) : clientBed(implementation, bounds);
}

async function serverBed(implementation: Implementation, bounds: Bounds): Promise<Bed> {
  const opened: { stream: PacketStream; told: Told }[] = [];
  const changes = new Changes();
  const take = (stream: PacketStream): void => {
    const told = new Told();
    stream.attach(told);
    opened.push({ stream, told });
    changes.check();
  };
  const publicOnly = implementation === 'public';
  const server = createGrpcServer({
    ...bounds,
    ...(implementation === 'direct'
      ? { handlers: {}, direct: { [CONNECT_PATH]: (call) => take(call.open(bounds)) } }
      : {
          handlers: { [CONNECT_PATH]: (call) => take(serverPacketStream(call, { ...bounds, publicOnly })) },
        }),
  });
  const listener = await listen((socket) => server.injectConnection(socket));
  const session = http2.connect(`http://127.0.0.1:${(listener.address() as AddressInfo).port}`);
  session.on('error', () => {});
  return {
    open: async () => {
      const before = opened.length;
      const peer = new Peer(request(session));
      await changes.until(() => opened.length > before);
      return { ...(opened[before] as (typeof opened)[0]), peer };
    },
    cut: () => session.destroy(),
    close: async () => {
      session.destroy();
      listener.close();
      await server.close();
    },
  };
}

/** A call as a gRPC client begins it. */
export function request(session: ClientHttp2Session, path = CONNECT_PATH): Http2Stream {
  return session.request(
    { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' },
    { endStream: false },
  );
}

async function clientBed(implementation: Implementation, bounds: Bounds): Promise<Bed> {
  const peers: Peer[] = [];
  const sockets = new Set<net.Socket>();
  const server = http2.createServer();
  server.on('sessionError', () => {});
  server.on('stream', (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    peers.push(new Peer(stream));
  });
  const listener = await listen((socket) => {
    sockets.add(socket);
    server.emit('connection', socket);
  });
  const { port } = listener.address() as AddressInfo;
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), clientOptions(bounds));
  return {
    open: async () => {
      const before = peers.length;
      const options = { ...bounds, publicOnly: implementation === 'public' };
      const { stream } = await openPacketStream(client, CONNECT_PATH, new Metadata(), options);
      const told = new Told();
      stream.attach(told);
      return { stream, told, peer: peers[before] as Peer };
    },
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
    close: async () => {
      client.close();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

/** A listener on a free loopback port. */
export function listen(onConnection: (socket: net.Socket) => void): Promise<net.Server> {
  return new Promise((resolve) => {
    const listener = net.createServer(onConnection).listen(0, '127.0.0.1', () => resolve(listener));
  });
}
