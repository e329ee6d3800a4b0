import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bindServer, hostPort } from './listener.ts';
import type { Newcomers } from './newcomers.ts';

/** A request, as handlers see it. */
export interface HttpRequest {
  readonly query: URLSearchParams;
  /** The query with its question mark; empty when there is none. */
  readonly search: string;
  /** The Host header, without a port and only if it is a plain name or address; else empty. */
  readonly host: string;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
}

/** The answer of an endpoint. */
export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
  readonly type?: string;
  readonly location?: string;
  /** Name under which a browser saves the body. */
  readonly fileName?: string;
}

/** Handlers by path. */
export type HttpHandlers = Readonly<
  Record<string, (request: HttpRequest) => HttpAnswer | Promise<HttpAnswer>>
>;

/** A small HTTP server for health and metrics. */
export interface HttpEndpoints {
  readonly port: number;
  close(): Promise<void>;
}

/** What a client may take and have; tests shrink the times. */
export interface HttpBounds {
  /** For a whole request, from its first byte. */
  readonly requestMs: number;
  /** Without a byte taken of an answer, or sent on a kept connection. */
  readonly idleMs: number;
  readonly connections: number;
}

/** Bounds that differ from the usual ones, and who keeps count of connections that ask for nothing. */
export type HttpLimits = Partial<HttpBounds> & { readonly newcomers?: Newcomers | undefined };

const defaultBounds: HttpBounds = { requestMs: 10_000, idleMs: 30_000, connections: 500 };
/** For Newcomers of such ports: with as many idle connections there is still room for those that ask. */
export const MOST_IDLE = 250;
/** Node answers 431 beyond it. */
const HEAD_BYTES = 16 * 1024;

/**
 * Serves GET and HEAD of the given paths on host:port ('' = all addresses). Slow clients are cut off, and beyond a
 * number of connections new ones are.
 * @throws Fault of bindFault, naming the flag `label`
 */
export async function httpEndpoints(
  host: string,
  port: number,
  label: string,
  handlers: HttpHandlers,
  { newcomers, ...given }: HttpLimits = {},
): Promise<HttpEndpoints> {
  const bounds = { ...defaultBounds, ...given };
  const { requestMs, idleMs } = bounds;
  const server = createServer(
    {
      requestTimeout: requestMs,
      headersTimeout: requestMs,
      connectionsCheckingInterval: Math.min(requestMs, 1_000),
      maxHeaderSize: HEAD_BYTES,
    },
    (request, response) => {
      newcomers?.busy(request.socket);
      response.once('close', () => newcomers?.idle(request.socket));
      void answer(request, response, handlers, idleMs);
    },
  );
  server.on('connection', (socket) => newcomers?.accepted(socket));
  server.maxConnections = bounds.connections;
  server.timeout = idleMs;
  await listen(server, host, port, label);
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  handlers: HttpHandlers,
  idleMs: number,
): Promise<void> {
  const [path = '', search] = splitTarget(request.url ?? '/');
  const handler = Object.hasOwn(handlers, path) ? handlers[path] : undefined;
  let result: HttpAnswer;
  if (handler === undefined) result = { status: 404, body: 'not found\n' };
  else if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    result = { status: 405, body: 'method not allowed\n' };
  } else {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    // A handler may take its time, such as a profile of 30 seconds.
    request.socket.setTimeout(0);
    try {
      const query = new URLSearchParams(search);
      result = await handler({ query, search, host: plainHost(request.headers.host), signal: gone.signal });
    } catch {
      result = { status: 500, body: 'internal error\n' };
    }
    request.socket.setTimeout(idleMs);
  }
  if (response.destroyed) return;
  const headers: Record<string, string> = {
    'content-type': result.type ?? 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
  };
  if (result.location !== undefined) headers.location = result.location;
  if (result.fileName !== undefined) {
    headers['content-disposition'] = `attachment; filename="${result.fileName}"`;
  }
  response.writeHead(result.status, headers).end(result.body);
}

/** Path and query of a request target, which may be anything. */
function splitTarget(target: string): [string, string] {
  const at = target.indexOf('?');
  return at === -1 ? [target, ''] : [target.slice(0, at), target.slice(at)];
}

/** What may go into a Location header. */
function plainHost(header: string | undefined): string {
  return /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d+)?$/i.exec(header ?? '')?.[1] ?? '';
}

async function listen(server: Server, host: string, port: number, label: string): Promise<void> {
  const address = hostPort(host === '' ? '*' : host, port);
  const bind = (): void => void (host === '' ? server.listen(port) : server.listen(port, host));
  await bindServer(server, bind, { address, label });
  // A failing accept, such as for want of descriptors, is no reason to stop.
  server.on('error', () => {});
}
