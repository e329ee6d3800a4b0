import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Fault } from './fault.ts';

/** The answer of an endpoint. */
export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
  readonly type?: string;
  readonly location?: string;
}

/** Handlers by path. */
export type HttpHandlers = Readonly<
  Record<string, (query: URLSearchParams) => HttpAnswer | Promise<HttpAnswer>>
>;

/** A small HTTP server for health and metrics. */
export interface HttpEndpoints {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves GET and HEAD of the given paths on host:port ('' = all addresses).
 * @throws Fault `port-in-use`, `listen-failed`, naming the flag `label`
 */
export async function httpEndpoints(
  host: string,
  port: number,
  label: string,
  handlers: HttpHandlers,
): Promise<HttpEndpoints> {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const handler = Object.hasOwn(handlers, url.pathname) ? handlers[url.pathname] : undefined;
    if (handler === undefined) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('not found\n');
      return;
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response
        .writeHead(405, { allow: 'GET, HEAD', 'content-type': 'text/plain' })
        .end('method not allowed\n');
      return;
    }
    Promise.resolve()
      .then(() => handler(url.searchParams))
      .then(
        (answer) => {
          const headers: Record<string, string> = {
            'content-type': answer.type ?? 'text/plain; charset=utf-8',
          };
          if (answer.location !== undefined) headers.location = answer.location;
          response.writeHead(answer.status, headers).end(answer.body);
        },
        () => response.writeHead(500).end(),
      );
  });
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

function listen(server: Server, host: string, port: number, label: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const where = `${host === '' ? '*' : host}:${port}`;
      reject(
        error.code === 'EADDRINUSE'
          ? new Fault(
              'port-in-use',
              `${label}: ${where} is in use`,
              'stop what listens there or choose another port',
            )
          : new Fault('listen-failed', `${label}: cannot listen on ${where}: ${error.code ?? error.message}`),
      );
    });
    const onListening = (): void => {
      server.removeAllListeners('error');
      server.on('error', () => {});
      resolve();
    };
    if (host === '') server.listen(port, onListening);
    else server.listen(port, host, onListening);
  });
}
