import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { Inbox } from './inbox.ts';
import { answer, KubeFaults, type KubeRequest, type Resource, refuse, type Verb } from './kube/faults.ts';
import { type KubeLease, LeaseStore } from './kube/lease-store.ts';
import { LeaseWatch } from './kube/lease-watch.ts';
import { parseSelector } from './kube/selector.ts';
import { deletedStatus, type Refusal, refusal } from './kube/status.ts';
import { type Pair, Pki } from './pki.ts';

/** What a client asks about a token, and what the API says of it. */
export interface ReviewSpec {
  readonly token: string;
  readonly audiences?: readonly string[];
}
export interface ReviewStatus {
  readonly authenticated?: boolean;
  readonly user?: { readonly username: string; readonly uid?: string; readonly groups?: readonly string[] };
  readonly audiences?: readonly string[];
  readonly error?: string;
}

/**
 * A Kubernetes API server as far as tokens and Leases go, over HTTPS on loopback, that does what a test tells it.
 * Owns its sockets and its certificates; close() ends them.
 */
export class FakeKubeApi {
  readonly pki: Pki;
  readonly leases = new LeaseStore();
  readonly faults = new KubeFaults();
  /** All requests that came, also those that were refused. */
  readonly requests = new Inbox<KubeRequest>();
  /** All tokens that were asked about. */
  readonly reviews: ReviewSpec[] = [];
  /** The verdict on a token; a test replaces it. */
  review: (spec: ReviewSpec) => ReviewStatus | Promise<ReviewStatus> = () => ({ authenticated: false });
  /** How a watch from too old a version is refused. */
  expiry: 'status' | 'event' = 'status';
  /** The bearer token that clients must send. */
  readonly token = randomBytes(12).toString('hex');
  readonly watches = new Set<LeaseWatch>();
  readonly #ca: Pair;
  readonly #leaf: Pair;
  readonly #sockets = new Set<Duplex>();
  #server: Server | undefined;
  #port = 0;

  private constructor(pki: Pki, ca: Pair, leaf: Pair) {
    this.pki = pki;
    this.#ca = ca;
    this.#leaf = leaf;
  }

  static async start(): Promise<FakeKubeApi> {
    const pki = new Pki();
    const ca = await pki.authority('kube CA');
    const api = new FakeKubeApi(pki, ca, await pki.server(ca));
    await api.listen();
    return api;
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  get caFile(): string {
    return this.#ca.certFile;
  }

  /** Writes a kubeconfig for this API and returns its path. */
  kubeconfig(token = this.token, caFile = this.caFile): string {
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'fake',
      clusters: [{ name: 'fake', cluster: { server: this.url, 'certificate-authority': caFile } }],
      users: [{ name: 'client', user: { token } }],
      contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'client' } }],
    };
    return this.pki.file(`kubeconfig-${randomUUID()}`, JSON.stringify(config));
  }

  /** How many requests of that kind came. */
  count(verb: Verb, resource: Resource): number {
    return this.requests.all.filter((one) => one.verb === verb && one.resource === resource).length;
  }

  /** The next request of that kind, after the last one that was waited for. */
  requested(verb: Verb, resource: Resource): Promise<KubeRequest> {
    return this.requests.next((one) => one.verb === verb && one.resource === resource);
  }

  /** Listens again, on the same port, after refuse(). */
  async listen(): Promise<void> {
    const { cert, key } = this.#leaf;
    const server = createServer({ cert, key }, (request, response) => void this.#serve(request, response));
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Cuts all connections and refuses new ones. */
  async refuse(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    server.close();
    this.cutAll();
    await once(server, 'close');
  }

  /** Cuts all connections. */
  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    await this.refuse();
    this.pki.remove();
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(message.url ?? '/', this.url);
    const request = describe(message, url);
    this.requests.push(request);
    try {
      const body = await readJson(message);
      if (await this.faults.strike(request, message, response)) return;
      if (request.authorization !== `Bearer ${this.token}`) throw refusal(401, 'Unauthorized');
      if (request.resource === 'leases') this.#serveLeases(request, body, response);
      else if (request.resource === 'tokenreviews') await this.#serveReview(body, response);
      else throw refusal(404, 'the server could not find the requested resource');
    } catch (error) {
      if (response.destroyed) return;
      if (error instanceof Error) refuse(response, refusal(500, error.message));
      else refuse(response, error as Refusal);
    }
  }

  async #serveReview(body: unknown, response: ServerResponse): Promise<void> {
    const { spec } = body as { spec: ReviewSpec };
    this.reviews.push(spec);
    const status = await this.review(spec);
    const metadata = { creationTimestamp: null };
    answer(response, 201, {
      kind: 'TokenReview',
      apiVersion: 'authentication.k8s.io/v1',
      metadata,
      spec,
      status,
    });
  }

  #serveLeases(request: KubeRequest, body: unknown, response: ServerResponse): void {
    const { leases } = this;
    const { verb, namespace = 'default', name = '', query } = request;
    if (verb === 'watch') this.#watch(request, response);
    else if (verb === 'list') answer(response, 200, leaseList(leases, request.namespace, query));
    else if (verb === 'get') answer(response, 200, leases.get(namespace, name));
    else if (verb === 'create') answer(response, 201, leases.create(namespace, body as KubeLease));
    else if (verb === 'update') answer(response, 200, leases.update(namespace, name, body as KubeLease));
    else {
      const { preconditions } = (body ?? {}) as {
        preconditions?: { resourceVersion?: string; uid?: string };
      };
      const { uid = '' } = leases.remove(namespace, name, preconditions).metadata;
      answer(response, 200, deletedStatus(name, uid));
    }
  }

  #watch(request: KubeRequest, response: ServerResponse): void {
    const watch = new LeaseWatch(this.leases, request, response, this.expiry);
    this.watches.add(watch);
    response.on('close', () => this.watches.delete(watch));
  }
}

function leaseList(leases: LeaseStore, namespace: string | undefined, query: URLSearchParams): object {
  const all = leases.list(namespace, parseSelector(query.get('labelSelector') ?? ''));
  const limit = Number(query.get('limit') ?? 0) || all.length;
  const from = Number(query.get('continue') ?? 0);
  const left = Math.max(0, all.length - from - limit);
  const more = left === 0 ? {} : { continue: String(from + limit), remainingItemCount: left };
  return {
    kind: 'LeaseList',
    apiVersion: 'coordination.k8s.io/v1',
    metadata: { resourceVersion: String(leases.revision), ...more },
    items: all.slice(from, from + limit),
  };
}

function describe(message: IncomingMessage, url: URL): KubeRequest {
  const { searchParams: query } = url;
  const { authorization } = message.headers;
  const path = /^\/apis\/coordination\.k8s\.io\/v1\/(?:namespaces\/([^/]+)\/)?leases(?:\/([^/]+))?$/.exec(
    url.pathname,
  );
  const [namespace, name] = [path?.[1], path?.[2]].map((part) => part && decodeURIComponent(part));
  const review = url.pathname === '/apis/authentication.k8s.io/v1/tokenreviews';
  const resource = path !== null ? 'leases' : review ? 'tokenreviews' : 'other';
  const many = query.get('watch') === 'true' || query.get('watch') === '1' ? 'watch' : 'list';
  const verbs: Record<string, Verb> = { POST: 'create', PUT: 'update', DELETE: 'delete' };
  const verb = verbs[message.method ?? ''] ?? (name === undefined ? many : 'get');
  return { verb, resource, namespace, name, query, authorization };
}

async function readJson(message: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of message.setEncoding('utf8')) text += chunk;
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw refusal(400, 'the body is no JSON');
  }
}
