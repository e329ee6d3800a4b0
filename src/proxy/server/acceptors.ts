import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { Descriptors } from '../ops/descriptors.ts';
import type { Fault } from '../ops/fault.ts';
import { listenTls } from '../ops/listen-tls.ts';
import { listenUnix } from '../ops/listen-unix.ts';
import { type Listener, peerOf } from '../ops/listener.ts';
import type { Log } from '../ops/log.ts';
import type { Newcomers } from '../ops/newcomers.ts';
import { RepeatedLine } from '../ops/repeated-line.ts';
import { loadServerTls, type ServerTls } from '../ops/tls-files.ts';
import type { Buffers } from '../wire/buffers.ts';
import { LINK_HTTP2_WINDOW_BYTES } from '../wire/client-options.ts';
import { createGrpcServer, type GrpcServer, type GrpcServerOptions } from '../wire/grpc-server.ts';
import type { PacketStream } from '../wire/packet-stream.ts';
import { grpcServerCall } from '../wire/server-call.ts';
import { type ServerStreamOptions, serverPacketStream } from '../wire/server-stream.ts';
import { CONNECT_PATH, PROXY_PATH } from '../wire/services.ts';
import { MOST_WAITING } from './admission.ts';
import { agentService } from './agent-service.ts';
import { acceptHttp2Preface } from './authority/accept-http2-preface.ts';
import { OpeningWatch } from './authority/opening-watch.ts';
import type { Backends } from './backends.ts';
import { ConnectFrontend, type ConnectFrontendOptions } from './connect-frontend.ts';
import { type DialDesk, newDialId } from './dial-desk.ts';
import { proxyService } from './proxy-service.ts';
import type { ServerCounters } from './server-counters.ts';
import type { FrontendListener, ProxyServerOptions, TlsFiles } from './server-options.ts';
import type { Tails } from './tails.ts';

/** Small, so that a frontend tells early and often what its client took: grants to the agent follow from that. */
const FRONTEND_HIGH_WATER_BYTES = 64 * 1024;
/** What a frontend's stream may hold while it is paused; kube-apiserver is near, so no more is under way. */
const FRONTEND_WINDOW_BYTES = 1024 * 1024;
/** Lower, and a bulk tunnel is stopped and started with nearly every chunk; higher, and a keystroke waits behind it. */
const AGENT_HIGH_WATER_BYTES = 512 * 1024;

/** What accepted sockets are given to. */
export interface AcceptorsOptions {
  readonly options: ProxyServerOptions;
  readonly backends: Backends;
  readonly counters: ServerCounters;
  readonly desk: DialDesk;
  readonly log: Log;
  readonly tails: Tails;
  readonly buffers: Buffers;
  readonly descriptors: Descriptors;
  accepting(): boolean;
  /** For a listener, under its name for people. */
  newcomers(what: string): Newcomers;
}

/** Opens the listeners and turns what they accept into frontends and backends. */
export class Acceptors {
  readonly #parts: AcceptorsOptions;
  /** That were loaded for listeners. */
  readonly certificates: X509Certificate[] = [];
  /** PEM of the CAs that sign agents; empty when none is asked for. */
  agentCa = '';
  readonly #grpcServers: GrpcServer[] = [];
  readonly #connectSockets = new Set<Socket>();
  readonly #repeated: RepeatedLine;
  /** Accepted for gRPC, and not asked for anything yet. */
  readonly #openingSockets = new Set<Socket>();

  constructor(parts: AcceptorsOptions) {
    this.#parts = parts;
    this.#repeated = new RepeatedLine(parts.log);
  }

  /** Listens for agents: gRPC over TLS. @throws Fault */
  async listenAgents(): Promise<Listener> {
    const { options, backends, counters, log, accepting, descriptors } = this.#parts;
    const handlers = {
      [CONNECT_PATH]: agentService({
        serverId: options.serverId,
        serverCount: options.serverCount,
        version: options.version,
        backends,
        log: log.named('agent-service'),
        authenticator: options.authenticator,
        // Each of them is a descriptor of somebody who is not known yet.
        mostWaiting: Math.min(MOST_WAITING, Math.floor(descriptors.limit / 4)),
        accepting,
        openStream: (call) =>
          this.#openStream(call, {
            highWaterMarkBytes: AGENT_HIGH_WATER_BYTES,
            counts: counters.agents,
            // Only now that it is let in.
            windowBytes: LINK_HTTP2_WINDOW_BYTES,
          }),
      }),
    };
    // An agent calls at once. Whoever does not could hold descriptors for ever, where no client certificate is asked for.
    const newcomers = this.#parts.newcomers('agent port');
    const grpc = this.#grpcServer(newcomers, {
      keepaliveTimeMs: options.keepaliveMs,
      handlers,
      idleTimeoutMs: options.times.headTimeoutMs,
    });
    return listenTls({
      host: options.agents.host,
      port: options.agents.port,
      label: '--agent-port',
      tls: this.#loadTls(options.agents.tls, 'cluster'),
      handshakeTimeoutMs: options.times.headTimeoutMs,
      onConnection: (socket) => grpc.injectConnection(socket),
      onHandshakeError: (remote, fault) => this.#badConnection('agent', remote, fault),
      log: log.named('listener'),
      newcomers,
      alpn: ['h2'],
    });
  }

  /** Listens for frontends of one kind. @throws Fault */
  async listenFrontend({ mode, address }: FrontendListener): Promise<Listener> {
    const { options, log } = this.#parts;
    const unix = address.kind === 'unix';
    const newcomers = this.#parts.newcomers('frontend');
    const accept = mode === 'grpc' ? this.#grpcAcceptor(unix, newcomers) : this.#connectAcceptor(newcomers);
    if (unix) {
      return listenUnix({
        path: address.path,
        deleteExisting: address.deleteExisting,
        label: '--uds-name',
        onConnection: accept,
        log: log.named('listener'),
        newcomers,
      });
    }
    return listenTls({
      host: address.host,
      port: address.port,
      label: '--server-port',
      tls: this.#loadTls(address.tls, 'server'),
      handshakeTimeoutMs: options.times.headTimeoutMs,
      onConnection: accept,
      onHandshakeError: (remote, fault) => this.#badConnection('frontend', remote, fault),
      log: log.named('listener'),
      newcomers,
      ...(mode === 'grpc' ? { alpn: ['h2'] } : {}),
    });
  }

  /** Closes what was accepted; listeners are closed by their owner. */
  async close(): Promise<void> {
    for (const socket of [...this.#connectSockets, ...this.#openingSockets]) socket.destroy();
    await Promise.all(this.#grpcServers.map((server) => server.close()));
  }

  #grpcServer(newcomers: Newcomers, more: GrpcServerOptions): GrpcServer {
    const server = createGrpcServer({
      onIdle: (socket) => newcomers.idle(socket),
      onBusy: (socket) => newcomers.busy(socket),
      ...more,
      onSessionError: (remote, error) => {
        const reason = String(error);
        if (wasCutOff(error)) this.#parts.log.info(4, 'A connection was cut off', { remote, reason });
        else this.#repeated.info('HTTP/2', 2, 'A connection broke HTTP/2', { remote, reason });
      },
    });
    this.#grpcServers.push(server);
    return server;
  }

  #grpcAcceptor(unix: boolean, newcomers: Newcomers): (socket: Socket) => void {
    const { options, desk, counters, log, tails } = this.#parts;
    const { times } = options;
    const proxy = proxyService({
      desk,
      counters,
      times,
      log: log.named('proxy-service'),
      tails,
      openStream: (call) =>
        call.open({
          publicOnly: options.publicStreams,
          highWaterMarkBytes: FRONTEND_HIGH_WATER_BYTES,
          counts: counters.clients,
          headersWithPacket: true,
        }),
    });
    const openings = new OpeningWatch();
    const grpc = this.#grpcServer(newcomers, {
      keepaliveTimeMs: options.frontendKeepaliveMs,
      ...(unix ? { firstStreamTimeoutMs: times.headTimeoutMs, onUnused: () => openings.unused() } : {}),
      windowBytes: FRONTEND_WINDOW_BYTES,
      ...(options.publicStreams
        ? { handlers: { [PROXY_PATH]: (call) => proxy(grpcServerCall(call)) } }
        : { handlers: {}, direct: { [PROXY_PATH]: proxy } }),
    });
    if (!unix) return (socket) => grpc.injectConnection(socket);
    return (socket) => {
      if (!openings.on) {
        grpc.injectConnection(socket);
        return;
      }
      this.#openingSockets.add(socket);
      acceptHttp2Preface(socket, { timeoutMs: times.headTimeoutMs }).then(
        (mended) => {
          openings.looked(mended);
          this.#openingSockets.delete(socket);
          grpc.injectConnection(socket);
        },
        (fault: Fault) => {
          this.#openingSockets.delete(socket);
          socket.destroy();
          this.#repeated.info('not gRPC', 2, 'A connection to the frontend socket is not gRPC', {
            reason: fault.line,
          });
        },
      );
    };
  }

  #connectAcceptor(newcomers: Newcomers): (socket: Socket) => void {
    const { options, desk, counters, tails, buffers } = this.#parts;
    const { times } = options;
    const shared: ConnectFrontendOptions = {
      tails,
      dial: (frontend, id, address, request) => desk.dial(frontend, id, address, request),
      onBusy: (socket) => newcomers.busy(socket),
      newDialId,
      writeSeconds: counters.frontendWriteSeconds,
      holdMs: times.holdMs,
      headTimeoutMs: times.headTimeoutMs,
      times,
      buffers,
      onRefused: (client, status, reason) =>
        this.#repeated.info(`CONNECT ${status}`, 2, 'Refused a CONNECT request', { client, status, reason }),
      onIdle: (socket) => newcomers.idle(socket),
      onEnd: (socket) => {
        counters.connectFrontends--;
        this.#connectSockets.delete(socket);
      },
    };
    return (socket) => {
      counters.connectFrontends++;
      this.#connectSockets.add(socket);
      new ConnectFrontend(socket, socket.remoteAddress === undefined ? 'unix' : peerOf(socket), shared);
    };
  }

  #openStream(call: ServerDuplexStream<Buffer, Buffer>, options: ServerStreamOptions): PacketStream {
    return serverPacketStream(call, { publicOnly: this.#parts.options.publicStreams, ...options });
  }

  #loadTls(files: TlsFiles, name: 'cluster' | 'server'): ServerTls {
    const { tlsMinVersion, tlsCiphers } = this.#parts.options;
    const tls = loadServerTls({
      ...files,
      ...(tlsMinVersion === undefined ? {} : { minVersion: tlsMinVersion }),
      ...(tlsCiphers === undefined ? {} : { ciphers: tlsCiphers }),
      labels: { cert: `--${name}-cert`, key: `--${name}-key`, ca: `--${name}-ca-cert` },
    });
    for (const warning of tls.warnings) this.#parts.log.warning(warning);
    if (tls.certificate !== undefined) this.certificates.push(tls.certificate);
    if (name === 'cluster') this.agentCa = tls.options.ca ?? '';
    return tls;
  }

  #badConnection(who: 'agent' | 'frontend', remote: string, fault: Fault): void {
    const reason = fault.line;
    this.#repeated.warn(`${who} ${fault.code}`, `A TLS connection to the ${who} port failed`, {
      remote,
      reason,
    });
  }
}

/** The peer's process ended, or the network: no fault of its HTTP/2. */
function wasCutOff(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'ETIMEDOUT' || code === 'ECONNABORTED';
}
