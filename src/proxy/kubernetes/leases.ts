import type { KubeAnswer, KubeApi, KubeWatchOptions } from './kube-api.ts';
import type { WatchEvent } from './watch-events.ts';

/** A Lease as the API has it; times are RFC 3339 with microseconds. */
export interface Lease {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly resourceVersion?: string;
    readonly uid?: string;
    readonly creationTimestamp?: string;
  };
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

export interface LeaseList {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly Lease[];
}

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

  get(name: string, signal: AbortSignal): Promise<KubeAnswer<Lease>> {
    return this.#api.request('GET', this.#pathOf(name), { signal });
  }

  list(query: LeaseQuery, signal: AbortSignal): Promise<KubeAnswer<LeaseList>> {
    return this.#api.request('GET', `${this.#path}?${new URLSearchParams(query)}`, { signal });
  }

  create(lease: Lease, signal: AbortSignal): Promise<KubeAnswer<Lease>> {
    return this.#api.request('POST', this.#path, { body: typed(lease), signal });
  }

  /** The `resourceVersion` of its metadata must still be the current one: else `kube-conflict`. */
  update(lease: Lease, signal: AbortSignal): Promise<KubeAnswer<Lease>> {
    return this.#api.request('PUT', this.#pathOf(lease.metadata.name), { body: typed(lease), signal });
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

  watch(query: LeaseQuery, options: KubeWatchOptions): AsyncGenerator<WatchEvent<Lease>, void, undefined> {
    const parameters = new URLSearchParams({ ...query, watch: 'true' });
    return this.#api.watch(`${this.#path}?${parameters}`, options);
  }

  #pathOf(name: string): string {
    return `${this.#path}/${encodeURIComponent(name)}`;
  }
}

function typed(lease: Lease): Lease {
  return { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', ...lease };
}
