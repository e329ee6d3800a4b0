import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const CHUNK_BYTES = 64 * 1024;
/** How often a throttled download gets its next piece. */
const TICK_MS = 50;
const MAX_BYTES = 10e9;

/** The HTTP server to which the demo's tunnels lead. */
export interface Target {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves a page that says which path was asked, and `/big?n=BYTES` (with `&rate=BYTES` a second, at most that fast),
 * on loopback.
 */
export async function startTarget(): Promise<Target> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://target');
    const n = numberOf(url.searchParams.get('n'));
    if (url.pathname === '/big' && n !== undefined) {
      sendBig(response, n, numberOf(url.searchParams.get('rate')) ?? Number.POSITIVE_INFINITY);
      return;
    }
    response.setHeader('content-type', 'text/plain; charset=utf-8');
    const host = request.headers.host ?? 'this server';
    response.end(`You asked for ${request.url} of ${host}, and got here through the tunnel.\n`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** The bytes of `/big` from `offset` on: known everywhere, and different at each place, so that a gap shows. */
export function bigBytes(offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  for (let i = 0; i < length; i++) bytes[i] = ((offset + i) * 2_654_435_761) >>> 13;
  return bytes;
}

function sendBig(response: ServerResponse, total: number, bytesPerSecond: number): void {
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': total });
  const startMs = performance.now();
  let sent = 0;
  let timer: NodeJS.Timeout | undefined;
  const more = (): void => {
    for (;;) {
      if (sent === total) {
        response.end();
        return;
      }
      const allowed = Math.floor(((performance.now() - startMs) / 1000) * bytesPerSecond) - sent;
      const length = Math.min(CHUNK_BYTES, total - sent, allowed);
      if (length <= 0) {
        timer = setTimeout(more, TICK_MS);
        return;
      }
      sent += length;
      if (response.write(bigBytes(sent - length, length))) continue;
      response.once('drain', more);
      return;
    }
  };
  response.once('close', () => clearTimeout(timer));
  more();
}

function numberOf(text: string | null): number | undefined {
  if (text === null || !/^\d{1,11}$/.test(text)) return undefined;
  return Math.min(Number(text), MAX_BYTES);
}
