import type { ClientTls } from '../ops/tls-files.ts';

/** Where a client dials: the frontend side of a proxy server. Over TCP there is no frontend without TLS. */
export type TunnelServer =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tls'; readonly host: string; readonly port: number; readonly tls: ClientTls };

/** The protocol that the frontend speaks; a server has one per frontend. */
export type TunnelMode = 'grpc' | 'http-connect';

/** A server as its user knows it, for messages. */
export function serverText(server: TunnelServer): string {
  if (server.kind === 'unix') return server.path;
  return server.host.includes(':') ? `[${server.host}]:${server.port}` : `${server.host}:${server.port}`;
}
