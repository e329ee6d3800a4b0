import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { Fault } from '../../ops/fault.ts';
import { listenTls } from '../../ops/listen-tls.ts';
import { listenUnix } from '../../ops/listen-unix.ts';
import type { Listener } from '../../ops/listener.ts';
import type { Log } from '../../ops/log.ts';
import type { Newcomers } from '../../ops/newcomers.ts';
import { RepeatedLine } from '../../ops/repeated-line.ts';
import { loadServerTls, type ServerTls } from '../../ops/tls-files.ts';
import type { ProxyServer } from '../../server/proxy-server.ts';
import type { AdminPlaceFacts } from '../model/admin-places.ts';
import { certificateCaller, type IncomingCall, socketCaller } from './access.ts';
import { Audit } from './audit.ts';
import type { Caller } from './caller.ts';
import { listenDefaultSocket, OWNER_ONLY_UMASK } from './default-socket.ts';
import { GrpcHost } from './grpc-host.ts';
import { registerHealth } from './health-service.ts';
import { makeHandlers } from './make-handlers.ts';
import { registerReflection } from './reflection-service.ts';
import { registerAdmin } from './register-admin.ts';
import { Sampler } from './sampler.ts';

export interface AdminServiceOptions {
  /** Where the Unix socket is: where clients look by default, at a path, or nowhere. */
  readonly socket:
    | { readonly kind: 'default'; readonly facts: AdminPlaceFacts }
    | { readonly kind: 'path'; readonly path: string }
    | { readonly kind: 'off' };
  /** Undefined: no TCP. All three files are needed. */
  readonly tcp?: {
    readonly host: string;
    readonly port: number;
    readonly certFile: string;
    readonly keyFile: string;
    readonly caFile: string;
  };
  /** Empty: none. */
  readonly auditLog: string;
  /** Whether orders survive a restart. */
  readonly keepsOrders: boolean;
  /** How often bytes are looked at; a second unless told. */
  readonly sampleMs?: number;
}

export interface AdminService {
  /** Of the Unix socket; empty when there is none. */
  readonly socketPath: string;
  /** Of the TCP port; 0 when there is none. */
  readonly port: number;
  /** Connections that are open. */
  readonly connections: number;
  /** Watches of agents that run. */
  readonly watchers: number;
  close(): Promise<void>;
}

/**
 * Serves the admin API of a running server. A default socket that cannot be made is a warning; anything else that was
 * asked for and cannot be had is a Fault, and nothing is left open then.
 */
export async function openAdminService(
  server: ProxyServer,
  options: AdminServiceOptions,
  log: Log,
): Promise<AdminService> {
  const audit = new Audit(log.named('audit'), options.auditLog);
  const sampler = new Sampler(server, options.sampleMs);
  const hosts: GrpcHost[] = [];
  const newcomers = server.newcomers('admin API');
  const listeners: Listener[] = [];
  const close = async (): Promise<void> => {
    sampler.close();
    await Promise.all(listeners.map((listener) => listener.close()));
    await Promise.all(hosts.map((host) => host.close()));
    await audit.close();
  };
  let tls: ServerTls | undefined;
  const { handlers, board } = makeHandlers({
    server,
    sampler,
    audit,
    epoch: randomBytes(6).toString('hex'),
    keepsOrders: options.keepsOrders,
    certificateExpiry: () => firstExpiry([...server.certificates, tls?.certificate]),
  });
  const host = (callerOf: (call: IncomingCall) => Caller, newcomers: Newcomers): GrpcHost => {
    const made = new GrpcHost({ newcomers });
    hosts.push(made);
    registerAdmin(made.server, handlers, {
      caller: (_, call) => callerOf(call),
      onBug: (method, error) => log.error('The admin service failed', { method, error: String(error) }),
    });
    registerHealth(made.server, {
      get stopping() {
        return server.stopping;
      },
      onChange: (listener) => server.events.onAdd(listener),
      admit: callerOf,
    });
    registerReflection(made.server, callerOf);
    return made;
  };
  try {
    const socket = await openSocket(server, options, newcomers, host(socketCaller, newcomers), log);
    if (socket !== undefined) listeners.push(socket);
    if (options.tcp !== undefined) {
      tls = loadTls(server, options.tcp, log);
      listeners.push(await openTcp(options.tcp, tls, newcomers, host(certificateCaller, newcomers), log));
    }
    const port = options.tcp === undefined ? 0 : (listeners.at(-1)?.port ?? 0);
    return {
      socketPath: socket?.path ?? '',
      port,
      get connections() {
        return hosts.reduce((sum, one) => sum + one.connections, 0);
      },
      get watchers() {
        return board.watchers;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openSocket(
  server: ProxyServer,
  { socket }: AdminServiceOptions,
  newcomers: Newcomers,
  host: GrpcHost,
  log: Log,
): Promise<Listener | undefined> {
  const accept = { log: log.named('listener'), newcomers, onConnection: (one: Socket) => host.accept(one) };
  switch (socket.kind) {
    case 'off':
      return undefined;
    case 'path':
      return await listenUnix({
        ...accept,
        path: socket.path,
        label: '--admin-socket',
        umask: OWNER_ONLY_UMASK,
      });
    case 'default':
      try {
        return await listenDefaultSocket(socket.facts, server.options.serverId, accept);
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        log.warning('There is no admin socket: operator commands on this machine cannot find this server', {
          reason: error.line,
        });
        return undefined;
      }
    default:
      return socket satisfies never;
  }
}

function loadTls(server: ProxyServer, tcp: NonNullable<AdminServiceOptions['tcp']>, log: Log): ServerTls {
  const tls = loadServerTls({
    ...tcp,
    labels: { cert: '--admin-grpc-cert', key: '--admin-grpc-key', ca: '--admin-grpc-ca-cert' },
  });
  for (const warning of tls.warnings) log.warning(warning);
  if (server.sharesAgentCa(tls.options.ca ?? '')) {
    log.warning(
      '--admin-grpc-ca-cert has a CA that also signs agents: whoever may have certificates made for agents may become an operator',
      { remedy: 'use a CA of its own' },
    );
  }
  return tls;
}

function openTcp(
  tcp: NonNullable<AdminServiceOptions['tcp']>,
  tls: ServerTls,
  newcomers: Newcomers,
  host: GrpcHost,
  log: Log,
): Promise<Listener> {
  const repeated = new RepeatedLine(log);
  return listenTls({
    host: tcp.host,
    port: tcp.port,
    label: '--admin-grpc-port',
    tls,
    alpn: ['h2'],
    log: log.named('listener'),
    newcomers,
    onConnection: (socket) => host.accept(socket),
    onHandshakeError: (remote, fault) =>
      repeated.warn(`admin ${fault.code}`, 'A TLS connection to the admin port failed', {
        remote,
        reason: fault.line,
      }),
  });
}

function firstExpiry(certificates: readonly ({ readonly validTo: string } | undefined)[]): Date | undefined {
  let first: number | undefined;
  for (const certificate of certificates) {
    if (certificate === undefined) continue;
    const atMs = Date.parse(certificate.validTo);
    if (!Number.isNaN(atMs)) first = Math.min(first ?? atMs, atMs);
  }
  return first === undefined ? undefined : new Date(first);
}
