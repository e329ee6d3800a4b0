import type { Agent as HttpAgent, IncomingMessage } from 'node:http';
import { request as requestPlain } from 'node:http';
import { Agent, request as requestTls } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { KubeAccess, KubeCredentials } from './kube-access.ts';
import { KubeFault, refused, unreachable } from './kube-fault.ts';

/** One request, ready to be sent. */
export interface KubeMessage {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With the query. */
  readonly path: string;
  /** JSON; undefined for none. */
  readonly body: string | undefined;
  /** May be sent again when the API ends an idle connection in the same instant: it changes nothing there. */
  readonly repeatable: boolean;
  /** Never shown, whatever the API answers; empty for none. */
  readonly secret: string;
}

/** More of one answer than this is refused. */
const MOST_BODY_BYTES = 16 * 1024 * 1024;
/** An idle connection is closed after this, before the API does it. */
const IDLE_MS = 30_000;
const KEEPALIVE_MS = 30_000;

/** Sends requests over a few kept connections, which it owns. Rejects with KubeFaults alone. */
export class Exchange {
  readonly #access: KubeAccess;
  readonly #lookup: LookupFunction | undefined;
  #agent: HttpAgent | undefined;
  #agentKey = '';

  /** @param lookup instead of the system's, for tests */
  constructor(access: KubeAccess, lookup?: LookupFunction) {
    this.#access = access;
    this.#lookup = lookup;
  }

  /** Resolves with an answer of 2xx, whose body the caller reads or destroys. `signal` also ends the body. */
  async send(message: KubeMessage, signal: AbortSignal): Promise<IncomingMessage> {
    const credentials = await untilAborted(this.#access.credentials(), signal);
    const answer = await this.#sendRaw(message, credentials, signal);
    const status = answer.statusCode ?? 0;
    if (status >= 200 && status < 300) return answer;
    const later = status === 429 || status >= 500 ? retryAfterMs(answer) : undefined;
    // An API, or what stands before it, may repeat what it was sent.
    const own = credentials.headers.authorization?.replace(/^\w+ +/, '') ?? '';
    throw refused(status, await this.readAll(answer), later, [own, message.secret]);
  }

  /** The whole body. */
  async readAll(answer: IncomingMessage): Promise<string> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of answer as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > MOST_BODY_BYTES) {
          throw new KubeFault(
            'kube-bad-answer',
            `an answer of the Kubernetes API has more than ${MOST_BODY_BYTES} bytes`,
          );
        }
        chunks.push(chunk);
      }
    } catch (error) {
      throw unreachable(error, this.#access.server);
    }
    return Buffer.concat(chunks).toString('utf8');
  }

  /** Ends the idle connections; what is under way ends with its signal. */
  close(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  async #sendRaw(
    message: KubeMessage,
    credentials: KubeCredentials,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#once(message, credentials, signal);
      } catch (error) {
        const again = error instanceof IdleConnectionEnded && message.repeatable && attempt < 3;
        if (!again)
          throw unreachable(error instanceof IdleConnectionEnded ? error.cause : error, this.#access.server);
      }
    }
  }

  #once(message: KubeMessage, credentials: KubeCredentials, signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const { method, path, body } = message;
      const url = new URL(`${this.#access.server}${path}`);
      const request = (url.protocol === 'http:' ? requestPlain : requestTls)(url, {
        method,
        agent: this.#agentFor(credentials, url.protocol),
        ...(this.#lookup === undefined ? {} : { lookup: this.#lookup }),
        headers: {
          accept: 'application/json',
          'user-agent': 'konnectivity-ts',
          ...credentials.headers,
          ...(body === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        },
      });
      const onAbort = (): void => {
        request.destroy(signal.reason as Error);
      };
      request.on('socket', (socket) => socket.setKeepAlive(true, KEEPALIVE_MS));
      request.on('close', () => {
        signal.removeEventListener('abort', onAbort);
        // Without an answer when it was a switch of protocols (101), which nobody asked for.
        reject(
          new KubeFault('kube-bad-answer', 'the Kubernetes API closed the connection without an answer'),
        );
      });
      request.on('error', (error: NodeJS.ErrnoException) => {
        const idle = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
        reject(idle ? new IdleConnectionEnded(error) : error);
      });
      request.on('response', resolve);
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      else request.end(body);
    });
  }

  /** Connections are kept as long as TLS is set up from the same files. */
  #agentFor({ tls, proxy }: KubeCredentials, protocol: string): HttpAgent | undefined {
    const key = JSON.stringify([tls, proxy !== undefined]);
    if (key !== this.#agentKey) {
      // What is under way on the old one goes on; its idle connections end by themselves.
      this.#agent = undefined;
      this.#agentKey = key;
    }
    // Without one, plain HTTP (asked for in so many words) takes Node's own.
    if (protocol === 'http:') return proxy;
    this.#agent ??= proxy ?? new Agent({ ...tls, keepAlive: true, timeout: IDLE_MS, maxFreeSockets: 4 });
    return this.#agent;
  }
}

/** What cannot be given up, such as a plug-in, is left to itself. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    work.finally(() => signal.removeEventListener('abort', onAbort)).then(resolve, reject);
  });
}

/** A kept connection was ended before it was asked for anything. */
class IdleConnectionEnded extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

function retryAfterMs(answer: IncomingMessage): number | undefined {
  const text = answer.headers['retry-after'];
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) * 1000 : undefined;
}
