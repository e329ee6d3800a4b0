import type { Server, Socket } from 'node:net';
import { Fault } from './fault.ts';
import { acceptLean } from './lean-socket.ts';
import type { Log } from './log.ts';
import type { Newcomers } from './newcomers.ts';

/** A bound, accepting socket. */
export interface Listener {
  /** For people: `[::]:8091` or the path of a Unix socket. */
  readonly address: string;
  /** The port it got; 0 for a Unix socket. */
  readonly port: number;
  /** The Unix socket's path; empty for TCP. */
  readonly path: string;
  /** Stops accepting; accepted sockets live on. Never fails. */
  close(): Promise<void>;
}

/** What every listener needs. */
export interface ListenerOptions<Connection extends Socket> {
  /** The flag that says where to listen, for Faults: `--agent-port`. */
  readonly label: string;
  readonly log: Log;
  /** Keeps count of connections from their accept on; their owner tells it when they ask for something. */
  readonly newcomers?: Newcomers | undefined;
  /** Takes over an accepted socket; a socket's errors never become uncaught, whoever else listens for them. */
  readonly onConnection: (socket: Connection) => void;
}

/** How every socket is accepted: no Nagle delay; an end of the peer does not end our side (half-close). */
export const acceptOptions = { allowHalfOpen: true, noDelay: true } as const;

const SILENCE_MS = 10_000;

/** Binds `server` by `bind` and resolves when it accepts. Rejects with the Faults of bindFault. */
export async function bindServer(server: Server, bind: () => void, where: BindPlace): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => reject(bindFault(error, where));
    server.once('error', onError);
    server.once('listening', () => {
      server.removeListener('error', onError);
      acceptLean(server);
      resolve();
    });
    try {
      bind();
    } catch (error) {
      reject(bindFault(error as NodeJS.ErrnoException, where));
    }
  });
}

/** Where a bind was tried: `address` as printed, `label` as in ListenerOptions. */
export interface BindPlace {
  readonly address: string;
  readonly label: string;
}

/** The one translation of bind errors: `port-in-use`, `address-not-permitted`, `address-not-available`, `listen-failed`. */
export function bindFault(error: NodeJS.ErrnoException, { address, label }: BindPlace): Fault {
  switch (error.code) {
    case 'EADDRINUSE':
      return new Fault(
        'port-in-use',
        `${label}: another process listens on ${address}`,
        `stop it or choose another value for ${label}`,
        error,
      );
    case 'EACCES':
    case 'EPERM':
      return new Fault('address-not-permitted', `${label}: no permission to listen on ${address}`, '', error);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new Fault(
        'address-not-available',
        `${label}: ${address} is no address of this machine`,
        'give an address of this machine, or leave it empty for all',
        error,
      );
    default:
      return new Fault('listen-failed', `${label}: cannot listen on ${address}: ${error.message}`, '', error);
  }
}

/**
 * Keeps a bound server alive: a failing accept (out of descriptors) is a warning, at most one in ten seconds, and
 * accepting goes on.
 */
export function surviveAcceptErrors(server: Server, log: Log, address: string): void {
  let silentUntil = 0;
  server.on('error', (error: NodeJS.ErrnoException) => {
    if (performance.now() < silentUntil) return;
    silentUntil = performance.now() + SILENCE_MS;
    const text =
      error.code === 'EMFILE' || error.code === 'ENFILE' ? 'out of file descriptors' : error.message;
    log.warning('a connection could not be accepted', { address, error: text });
  });
}

/** Ends accepting at once, without waiting for the connections that are open. */
export async function stopAccepting(server: Server): Promise<void> {
  if (!server.listening) return;
  server.close();
  // The descriptor is closed by the event loop, a turn later at most.
  await new Promise<void>((resolve) => setImmediate(resolve));
}

/** `host:port`, with brackets around IPv6. */
export function hostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The peer of an accepted socket, for logs. */
export function peerOf(socket: Socket): string {
  const { remoteAddress, remotePort } = socket;
  return remoteAddress === undefined ? 'unknown' : hostPort(remoteAddress, remotePort ?? 0);
}
