import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type ClientDuplexStream, credentials, Metadata } from '@grpc/grpc-js';
import { channelCredentials } from '../../src/proxy/ops/channel-credentials.ts';
import { createLog, type Log } from '../../src/proxy/ops/log.ts';
import { loadClientTls } from '../../src/proxy/ops/tls-files.ts';
import { ProxyServer } from '../../src/proxy/server/proxy-server.ts';
import {
  defaultServerTimes,
  type ProxyServerOptions,
  type ServerTimes,
} from '../../src/proxy/server/server-options.ts';
import { defaultBufferBounds } from '../../src/proxy/wire/buffers.ts';
import { clientOptions } from '../../src/proxy/wire/client-options.ts';
import {
  type OpenStream,
  openPacketStream,
  openPublicPacketStream,
} from '../../src/proxy/wire/client-stream.ts';
import { encodeFrame } from '../../src/proxy/wire/encode.ts';
import { blankStatus, FRAME_HEADER_BYTES, type Packet } from '../../src/proxy/wire/packet.ts';
import { status } from '../../src/proxy/wire/packets.ts';
import { CONNECT_PATH, PROXY_PATH } from '../../src/proxy/wire/services.ts';
import { Inbox } from './inbox.ts';
import { Pki } from './pki.ts';
import { ScriptedStream } from './scripted-stream.ts';

/** What a test may change of the server; times are merged over the defaults. */
export type TestServerOptions = Partial<Omit<ProxyServerOptions, 'times'>> & {
  times?: Partial<ServerTimes>;
  /** Of the log; default 3. */
  verbosity?: number;
};

/** How a scripted agent presents itself. */
export interface ScriptedAgentOptions {
  identifiers?: string;
  /** `ts` (default): announces the extension and sends STATUS; `go`: neither. */
  kind?: 'ts' | 'go';
  features?: string;
  instance?: string;
  leaving?: boolean;
  /** False: the first STATUS is left to the test. */
  announces?: boolean;
  authorization?: string;
}

/** A real server on loopback with a gRPC and a CONNECT frontend on Unix sockets, for scripted peers. */
export class TestServer {
  readonly server: ProxyServer;
  readonly lines = new Inbox<string>();
  readonly grpcPath: string;
  readonly connectPath: string;
  readonly pki: Pki;
  readonly #caFile: string;
  readonly #clients: Client[] = [];
  readonly #sockets: Socket[] = [];

  private constructor(
    server: ProxyServer,
    pki: Pki,
    caFile: string,
    paths: [string, string],
    lines: Inbox<string>,
  ) {
    this.server = server;
    this.pki = pki;
    this.#caFile = caFile;
    [this.grpcPath, this.connectPath] = paths;
    this.lines = lines;
  }

  static async start(options: TestServerOptions = {}): Promise<TestServer> {
    const pki = new Pki();
    const name = randomBytes(6).toString('hex');
    // A name of its own, so that a bundle may hold the CAs of several servers.
    const ca = await pki.authority(`test CA of ${name}`);
    const leaf = await pki.issue(ca, { commonName: 'server', dns: ['localhost'], ips: ['127.0.0.1'] });
    const paths: [string, string] = [
      join(tmpdir(), `kts-${name}-g.sock`),
      join(tmpdir(), `kts-${name}-c.sock`),
    ];
    const lines = new Inbox<string>();
    const log: Log = createLog({ verbosity: options.verbosity ?? 3, write: (line) => lines.push(line) });
    const { times, verbosity: _, ...rest } = options;
    const server = new ProxyServer(
      {
        serverId: 'server-1',
        serverCount: 1,
        version: 'test',
        frontends: [
          { mode: 'grpc', address: { kind: 'unix', path: paths[0], deleteExisting: true } },
          { mode: 'http-connect', address: { kind: 'unix', path: paths[1], deleteExisting: true } },
        ],
        agents: {
          host: '127.0.0.1',
          port: 0,
          tls: { certFile: leaf.certFile, keyFile: leaf.keyFile, caFile: '' },
        },
        strategies: ['default'],
        drainingFallback: 'last-resort',
        backendChoice: 'random',
        publicStreams: false,
        keepaliveMs: 3_600_000,
        frontendKeepaliveMs: 3_600_000,
        bounds: defaultBufferBounds,
        ...rest,
        times: { ...defaultServerTimes, ...times },
      },
      log,
    );
    await server.start();
    return new TestServer(server, pki, ca.certFile, paths, lines);
  }

  get caFile(): string {
    return this.#caFile;
  }

  /** Opens a Connect stream as an agent of that ID. Resolves when the server has registered it. */
  async agent(agentId: string, options: ScriptedAgentOptions = {}): Promise<ScriptedStream> {
    const { kind = 'ts', leaving = false } = options;
    const before = this.server.backends.size;
    const { stream } = await this.connect(agentId, options);
    const agent = new ScriptedStream(stream);
    agent.grantsLink = kind === 'ts' && (options.features ?? 'flow').includes('flow');
    if (kind === 'ts' && options.announces !== false) {
      agent.send(status({ ...blankStatus(), leaving, serverIds: ['server-1'] }));
    }
    if (this.server.backends.size <= before) {
      await this.lines.next((line) => line.includes('Agent connected') && line.includes(`"${agentId}"`));
    }
    return agent;
  }

  /** A client for the agent port; closed with the server. */
  agentClient(): Client {
    const tls = loadClientTls({ caFile: this.#caFile, labels: { cert: 'cert', key: 'key', ca: 'ca' } });
    const client = new Client(`127.0.0.1:${this.server.agentPort}`, channelCredentials(tls), clientOptions());
    this.#clients.push(client);
    return client;
  }

  /** Makes the Connect call of an agent. Rejects with the RpcError of a refusal. */
  connect(
    agentId: string,
    options: ScriptedAgentOptions & { signal?: AbortSignal } = {},
    client = this.agentClient(),
  ): Promise<OpenStream> {
    const { kind = 'ts', identifiers, instance = randomBytes(8).toString('hex') } = options;
    const metadata = new Metadata();
    metadata.set('agentID', agentId);
    if (options.authorization !== undefined) metadata.set('authorization', options.authorization);
    if (identifiers !== undefined) metadata.set('agentIdentifiers', identifiers);
    if (kind === 'ts') {
      metadata.set('kts-features', options.features ?? 'ping,status,flow');
      metadata.set('kts-instance', instance);
    }
    return openPacketStream(client, CONNECT_PATH, metadata, {
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
  }

  /** The bare call of an agent, with which it may send before the server has answered. */
  rawConnect(agentId: string): ClientDuplexStream<Packet, Buffer> {
    const metadata = new Metadata();
    metadata.set('agentID', agentId);
    metadata.set('kts-features', 'ping,status,flow');
    const encode = (packet: Packet): Buffer => encodeFrame(packet).subarray(FRAME_HEADER_BYTES);
    const call = this.agentClient().makeBidiStreamRequest(CONNECT_PATH, encode, (bytes) => bytes, metadata);
    return call.on('error', () => {});
  }

  /** Opens a Proxy stream. */
  frontend(): ScriptedStream {
    const client = new Client(`unix:${this.grpcPath}`, credentials.createInsecure(), {
      ...clientOptions(),
      'grpc.default_authority': 'localhost',
    });
    this.#clients.push(client);
    return new ScriptedStream(openPublicPacketStream(client, PROXY_PATH, new Metadata()));
  }

  /** Connects a raw socket to the CONNECT frontend. */
  async connectSocket(): Promise<Socket> {
    const socket = connect({ path: this.connectPath, allowHalfOpen: true });
    this.#sockets.push(socket);
    socket.on('error', () => {});
    await once(socket, 'connect');
    return socket;
  }

  /** Resolves when the server logs a line with that text. */
  logged(text: string): Promise<string> {
    return this.lines.next((line) => line.includes(text));
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    for (const client of this.#clients) client.close();
    await this.server.close();
    for (const path of [this.grpcPath, this.connectPath]) rmSync(path, { force: true });
    this.pki.remove();
  }
}
