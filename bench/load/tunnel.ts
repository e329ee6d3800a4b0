import { type Address, DESTINATION_HOSTS, type Entry } from '../messages.ts';
import { GrpcTunnel } from './grpc-tunnel.ts';
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
  const host = DESTINATION_HOSTS[nextHost] as string;
  nextHost = (nextHost + 1) % DESTINATION_HOSTS.length;
  return openTunnelTo(entry, { host, port }, handler);
}

/** Opens a tunnel to one address. */
export function openTunnelTo(entry: Entry, { host, port }: Address, handler: TunnelHandler): Tunnel {
  switch (entry.kind) {
    case 'direct':
      return new SocketTunnel({ host, port }, undefined, handler);
    case 'connect':
      return new SocketTunnel({ path: entry.socketPath }, `${host}:${port}`, handler);
    case 'grpc':
      return new GrpcTunnel(entry.socketPath, `${host}:${port}`, handler);
  }
}
