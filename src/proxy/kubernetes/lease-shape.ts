import type { KubeAnswer } from './kube-api.ts';
import { KubeFault } from './kube-fault.ts';
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

// What stands for the Kubernetes API may answer anything with 200. Only what all code relies on is looked at: the
// metadata of a Lease, and its name. Missing and odd fields of its spec are known to lease-term.ts.

/** @throws KubeFault `kube-bad-answer` when the answer is no Lease */
export function asLease(answer: KubeAnswer<unknown>): KubeAnswer<Lease> {
  if (isLease(answer.body)) return { status: answer.status, body: answer.body };
  throw noLease('an answer that is no Lease');
}

/** @throws KubeFault `kube-bad-answer` when the answer is no list of Leases */
export function asLeaseList(answer: KubeAnswer<unknown>): KubeAnswer<LeaseList> {
  const { items, metadata } = answer.body as { items?: unknown; metadata?: unknown };
  const all = items ?? [];
  if (!Array.isArray(all) || !all.every(isLease)) throw noLease('an answer that is no list of Leases');
  const { resourceVersion, continue: more } = isObject(metadata) ? metadata : {};
  const version = typeof resourceVersion === 'string' ? resourceVersion : '';
  return {
    status: answer.status,
    body: {
      metadata: { resourceVersion: version, ...(typeof more === 'string' ? { continue: more } : {}) },
      items: all,
    },
  };
}

/** @throws KubeFault `kube-bad-answer` when the event tells of no Lease */
export function asLeaseEvent(event: WatchEvent<unknown>): WatchEvent<Lease> {
  const { type, object } = event;
  // A bookmark has a version and nothing else.
  if (isLease(object) || (type === 'BOOKMARK' && isObject(object) && isObject(object.metadata))) {
    return { type, object: object as unknown as Lease };
  }
  throw noLease('an event that tells of no Lease');
}

function isLease(value: unknown): value is Lease {
  return isObject(value) && isObject(value.metadata) && typeof value.metadata.name === 'string';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function noLease(what: string): KubeFault {
  return new KubeFault('kube-bad-answer', `the Kubernetes API sent ${what}`, {
    remedy: 'check that the server of the kubeconfig is a Kubernetes API',
  });
}
