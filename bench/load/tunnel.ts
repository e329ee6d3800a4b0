import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContext } from 'node:tls';
import { type Address, type ClientTlsFiles, DESTINATION_HOSTS, type Entry } from '../messages.ts';
import { GrpcTunnel } from './grpc-tunnel.ts';
import { Http2Connection } from './http2-connection.ts';
import { SocketTunnel } from './socket-tunnel.ts';

/** What the load generator learns of one tunnel. */
export interface TunnelHandler {
  /** The destination answered: bytes may be sent. */
  onOpen(): void;
  /** Bytes of the destination; the view is valid during the call only. */
  onData(bytes: Buffer): void;
  /** What send() had refused to take more of is gone. */
  onDrain(): void;
  /** Exactly once, when the last descriptor is closed. A fault unless close() had been called. */
  onClosed(fault: string | undefined): void;
}

/** One connection through the proxy, or straight to the destination. */
export interface Tunnel {
  /** False: wait for onDrain. The bytes must not be changed afterwards. */
  send(bytes: Buffer): boolean;
  /** Reads nothing more, for good. */
  pause(): void;
  /** Ends the tunnel as its protocol wants it; onClosed follows. */
  close(): void;
  /** Cuts it. */
  destroy(): void;
}

let nextHost = 0;

/** Opens a tunnel to the destination's `port`, on the next of its addresses. */
export function openTunnel(entry: Entry, port: number, handler: TunnelHandler): Tunnel {
  const { hosts = DESTINATION_HOSTS } = entry;
  nextHost = (nextHost + 1) % hosts.length;
  const host = hosts[nextHost] as string;
  return openTunnelTo(entry, { host, port }, handler);
}

/** Opens a tunnel to one address. */
export function openTunnelTo(entry: Entry, { host, port }: Address, handler: TunnelHandler): Tunnel {
  const target = `${host}:${port}`;
  switch (entry.kind) {
    case 'direct': {
      const relay = entry.through?.[port];
      const where = relay === undefined ? { host, port } : { host: '127.0.0.1', port: relay };
      return new SocketTunnel(where, undefined, handler);
    }
    case 'connect':
      return new SocketTunnel({ path: entry.socketPath }, target, handler);
    case 'connect-mtls': {
      const secureContext = clientContext(entry.tls);
      return new SocketTunnel({ host: '127.0.0.1', port: entry.port, secureContext }, target, handler);
    }
    case 'grpc':
      return new GrpcTunnel(entry.socketPath, target, handler);
    case 'grpc-shared':
      return new GrpcTunnel(sharedConnection(entry.socketPath), target, handler);
  }
}

const shared = new Map<string, Http2Connection>();

/** The one connection to a socket; made anew when the last one ended. */
function sharedConnection(path: string): Http2Connection {
  const known = shared.get(path);
  if (known !== undefined) return known;
  const made = new Http2Connection({ path }, () => {
    if (shared.get(path) === made) shared.delete(path);
  });
  shared.set(path, made);
  return made;
}

/** Says good-bye on connections that were shared: with its tunnels all of a workload ends. */
export function leaveSharedConnections(): void {
  for (const connection of shared.values()) connection.leave();
  shared.clear();
}

const contexts = new Map<string, SecureContext>();

/** Read once: kube-apiserver does not read its files for each connection either. */
function clientContext({ caFile, certFile, keyFile }: ClientTlsFiles): SecureContext {
  let context = contexts.get(certFile);
  if (context === undefined) {
    const [ca, cert, key] = [caFile, certFile, keyFile].map((file) => readFileSync(file));
    context = createSecureContext({ ca, cert, key });
    contexts.set(certFile, context);
  }
  return context;
}
