import type { KubeAnswer, KubeApi, KubeWatchOptions } from './kube-api.ts';
import { asLease, asLeaseEvent, asLeaseList, type Lease, type LeaseList } from './lease-shape.ts';
import type { WatchEvent } from './watch-events.ts';

export type { Lease, LeaseList };

/** Further parameters of a request: `labelSelector`, `resourceVersion`, `timeoutSeconds`, `limit`, `continue`. */
export type LeaseQuery = Readonly<Record<string, string>>;

/** The Leases of one namespace (coordination.k8s.io/v1). Everything rejects with KubeFaults. */
export class Leases {
  readonly #api: KubeApi;
  readonly #path: string;

  constructor(api: KubeApi, namespace: string) {
    this.#api = api;
    this.#path = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
  }

  async get(name: string, signal: AbortSignal): Promise<KubeAnswer<Lease>> {
    return asLease(await this.#api.request('GET', this.#pathOf(name), { signal }));
  }

  async list(query: LeaseQuery, signal: AbortSignal): Promise<KubeAnswer<LeaseList>> {
    const path = `${this.#path}?${new URLSearchParams(query)}`;
    return asLeaseList(await this.#api.request('GET', path, { signal }));
  }

  async create(lease: Lease, signal: AbortSignal): Promise<KubeAnswer<Lease>> {
    return asLease(await this.#api.request('POST', this.#path, { body: typed(lease), signal }));
  }

  /** The `resourceVersion` of its metadata must still be the current one: else `kube-conflict`. */
  async update(lease: Lease, signal: AbortSignal): Promise<KubeAnswer<Lease>> {
    const path = this.#pathOf(lease.metadata.name);
    return asLease(await this.#api.request('PUT', path, { body: typed(lease), signal }));
  }

  /** Only if it still has that version; undefined: whatever it is by now. */
  delete(
    name: string,
    resourceVersion: string | undefined,
    signal: AbortSignal,
  ): Promise<KubeAnswer<unknown>> {
    const preconditions = resourceVersion === undefined ? {} : { preconditions: { resourceVersion } };
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', ...preconditions };
    return this.#api.request('DELETE', this.#pathOf(name), { body, signal });
  }

  async *watch(
    query: LeaseQuery,
    options: KubeWatchOptions,
  ): AsyncGenerator<WatchEvent<Lease>, void, undefined> {
    const parameters = new URLSearchParams({ ...query, watch: 'true' });
    const events = this.#api.watch<unknown>(`${this.#path}?${parameters}`, options);
    for await (const event of events) yield asLeaseEvent(event);
  }

  #pathOf(name: string): string {
    return `${this.#path}/${encodeURIComponent(name)}`;
  }
}

function typed(lease: Lease): Lease {
  return { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', ...lease };
}
