import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { Metadata, type ServerDuplexStream } from '@grpc/grpc-js';
import { listenTls, type TlsListener } from '../../src/proxy/ops/listen-tls.ts';
import { silentLog } from '../../src/proxy/ops/log.ts';
import { loadServerTls } from '../../src/proxy/ops/tls-files.ts';
import { encodeDataFrame } from '../../src/proxy/wire/encode.ts';
import { serverCallSocket } from '../../src/proxy/wire/grpc-internals.ts';
import { createGrpcServer, type GrpcServer } from '../../src/proxy/wire/grpc-server.ts';
import { type Packet, PacketType } from '../../src/proxy/wire/packet.ts';
import { dialRequest, pong } from '../../src/proxy/wire/packets.ts';
import { serverPacketStream } from '../../src/proxy/wire/server-stream.ts';
import { CONNECT_PATH } from '../../src/proxy/wire/services.ts';
import { Inbox } from './inbox.ts';
import type { Pair, Request } from './pki.ts';
import { Pki } from './pki.ts';
import { ScriptedStream } from './scripted-stream.ts';

/** How a scripted server presents itself and behaves. */
export interface ScriptedServerOptions {
  serverId?: string;
  serverCount?: number;
  /** `kts-features` of the response headers; undefined: none, like a Go server. Default: all of this version. */
  features?: string | undefined;
  /** `answer` (default): headers at once; `silent`: none ever; `close`: headers, then the end of the stream. */
  headers?: 'answer' | 'silent' | 'close';
  /** False: the headers do not say who it is. */
  identity?: boolean;
  /** HTTP/2 window of connection and stream. */
  windowBytes?: number;
  /** Answers Connect with this status instead of headers. */
  refuse?: { code: number; details: string };
  /** Whether PINGs are answered (default true). */
  answersPings?: boolean;
  /** 0 by default. */
  port?: number;
  /** What the server certificate says, beside the defaults. */
  certificate?: Partial<Request>;
  publicStreams?: boolean;
}

/** One Connect call as the server saw it. */
export class ScriptedConnect extends ScriptedStream {
  readonly metadata: Metadata;
  /** The connection below: closed when the agent let go of it. */
  readonly socket: Socket;
  #lastDialId = 0n;

  constructor(call: ServerDuplexStream<Buffer, Buffer>, socket: Socket, publicOnly: boolean) {
    super(serverPacketStream(call, { publicOnly }));
    this.metadata = call.metadata;
    this.socket = socket;
  }

  /** Types of all packets that came, in order. */
  get types(): number[] {
    return this.packets.all.map((packet) => packet.type);
  }

  /** Sends a DIAL_REQ with an ID of its own and returns the ID. */
  dial(address: string): bigint {
    const id = ++this.#lastDialId;
    this.send(dialRequest(id, address));
    return id;
  }

  /** Dials and returns the connectID, or throws the agent's error text. */
  async open(address: string): Promise<number> {
    const id = this.dial(address);
    const answer = await this.packets.next((p) => p.type === PacketType.DIAL_RSP && p.dialId === id);
    if (answer.error !== '') throw new Error(answer.error);
    return answer.connectId;
  }

  /** Sends DATA. */
  data(connectId: number, payload: Uint8Array | string): boolean {
    return this.stream.sendFrame(encodeDataFrame(connectId, Buffer.from(payload)));
  }

  /** Resolves with the CLOSE_RSP of a tunnel. */
  closed(connectId: number): Promise<Packet> {
    return this.packets.next((p) => p.type === PacketType.CLOSE_RSP && p.connectId === connectId);
  }

  /** Payload that came under one connectID so far. */
  bytes(connectId: number): number {
    let total = 0;
    for (const packet of this.packets.all) {
      if (packet.type === PacketType.DATA && packet.connectId === connectId) total += packet.data.length;
    }
    return total;
  }
}

/** An AgentService server in a test's hand, on loopback with TLS. */
export class ScriptedServer {
  readonly options: ScriptedServerOptions;
  readonly serverId: string;
  /** The streams that came, in order. */
  readonly connects = new Inbox<ScriptedConnect>();
  /** Every Connect call, answered or not. */
  readonly calls = new Inbox<Metadata>();
  readonly sockets = new Set<Socket>();
  readonly pki: Pki;
  readonly ca: Pair;
  readonly #leaf: Pair;
  readonly #ownsPki: boolean;
  #grpc: GrpcServer | undefined;
  #listener: TlsListener | undefined;
  #port: number;

  private constructor(options: ScriptedServerOptions, pki: Pki, ca: Pair, leaf: Pair, ownsPki: boolean) {
    this.options = options;
    this.serverId = options.serverId ?? `server-${randomBytes(4).toString('hex')}`;
    this.pki = pki;
    this.ca = ca;
    this.#leaf = leaf;
    this.#ownsPki = ownsPki;
    this.#port = options.port ?? 0;
  }

  /** Starts one; with `like` it shares the CA of another, so that one agent trusts both. */
  static async start(options: ScriptedServerOptions = {}, like?: ScriptedServer): Promise<ScriptedServer> {
    const pki = like?.pki ?? new Pki();
    const ca = like?.ca ?? (await pki.authority('test CA'));
    const leaf = await pki.server(ca, options.certificate);
    const server = new ScriptedServer(options, pki, ca, leaf, like === undefined);
    await server.listen();
    return server;
  }

  get port(): number {
    return this.#port;
  }

  /** Listens again, on the same port, after stopListening(). */
  async listen(): Promise<void> {
    const { windowBytes } = this.options;
    const grpc = createGrpcServer({
      handlers: { [CONNECT_PATH]: (call) => this.#onCall(call) },
      ...(windowBytes === undefined ? {} : { windowBytes }),
    });
    this.#grpc = grpc;
    const { certFile, keyFile } = this.#leaf;
    this.#listener = await listenTls({
      host: '127.0.0.1',
      port: this.#port,
      label: '--agent-port',
      tls: loadServerTls({ certFile, keyFile, caFile: '', labels: { cert: 'cert', key: 'key', ca: 'ca' } }),
      alpn: ['h2'],
      log: silentLog,
      onHandshakeError: () => {},
      onConnection: (socket) => {
        this.sockets.add(socket);
        socket.once('close', () => this.sockets.delete(socket));
        grpc.injectConnection(socket);
      },
    });
    this.#port = this.#listener.port;
  }

  /** The next stream of an agent. */
  connected(): Promise<ScriptedConnect> {
    return this.connects.next();
  }

  /** Stops, as a server that is killed: connections too. listen() starts it again. */
  async stopListening(): Promise<void> {
    await this.#listener?.close();
    await this.#grpc?.close();
  }

  async close(): Promise<void> {
    await this.stopListening();
    if (this.#ownsPki) this.pki.remove();
  }

  #onCall(call: ServerDuplexStream<Buffer, Buffer>): void {
    const { refuse, headers = 'answer', serverCount = 1, publicStreams = false } = this.options;
    call.on('error', () => {});
    const port = serverCallSocket(call)?.remotePort;
    const socket = [...this.sockets].find((one) => one.remotePort === port) as Socket;
    if (refuse !== undefined) call.emit('error', refuse);
    else if (headers !== 'silent') {
      const metadata = new Metadata();
      if (this.options.identity !== false) {
        metadata.set('serverID', this.serverId);
        metadata.set('serverCount', String(serverCount));
      }
      const features = 'features' in this.options ? this.options.features : 'ping,status,flow';
      if (features !== undefined) {
        metadata.set('kts-features', features);
        metadata.set('kts-version', 'test');
      }
      call.sendMetadata(metadata);
      const connect = new ScriptedConnect(call, socket, publicStreams);
      connect.grantsLink = features?.includes('flow') === true;
      connect.onPacket = (packet) => this.#answer(connect, packet);
      this.connects.push(connect);
      // What an agent closes, a server ends.
      connect.ended.then((end) => {
        if (end.cause === 'half-close') connect.stream.end();
      });
      if (headers === 'close') connect.stream.end(14, 'closed by script');
    }
    this.calls.push(call.metadata);
  }

  #answer(connect: ScriptedConnect, packet: Packet): void {
    if (packet.type === PacketType.PING && this.options.answersPings !== false) {
      connect.send(pong(packet.amount));
    }
  }
}
