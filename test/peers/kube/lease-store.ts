import { randomUUID } from 'node:crypto';
import type { Selector } from './selector.ts';
import { refusal } from './status.ts';

/** A Lease as the API shows it. */
export interface KubeLease {
  kind?: string;
  apiVersion?: string;
  metadata: {
    name: string;
    namespace: string;
    labels?: Record<string, string>;
    resourceVersion?: string;
    uid?: string;
    creationTimestamp?: string;
  };
  spec: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
  };
}

export interface LeaseEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeLease;
  /** Before the change: what a watch with a selector needs to tell that an object left it. */
  readonly before?: KubeLease;
  readonly revision: number;
}

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/;

/** Leases with resource versions and a history, with the API's rules for writing them. */
export class LeaseStore {
  /** The version of the last change; the API has one counter for all objects. */
  revision = 100;
  /** Watches from an earlier version are told that it is expired. */
  oldest = 0;
  /** Told of each change. */
  readonly watchers = new Set<(event: LeaseEvent) => void>();
  readonly #leases = new Map<string, KubeLease>();
  readonly #history: LeaseEvent[] = [];

  list(namespace: string | undefined, selector: Selector = () => true): KubeLease[] {
    const all = [...this.#leases.values()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    return all.filter(({ metadata }) => inNamespace(metadata, namespace) && selector(metadata.labels ?? {}));
  }

  get(namespace: string, name: string): KubeLease {
    const lease = this.#leases.get(`${namespace}/${name}`);
    if (lease === undefined) throw refusal(404, `leases.coordination.k8s.io "${name}" not found`);
    return lease;
  }

  create(namespace: string, body: KubeLease): KubeLease {
    check(body, namespace, body.metadata?.name);
    const { name } = body.metadata;
    if (this.#leases.has(`${namespace}/${name}`)) {
      const message = `leases.coordination.k8s.io "${name}" already exists`;
      throw refusal(409, message, { reason: 'AlreadyExists' });
    }
    const made = { uid: randomUUID(), creationTimestamp: new Date().toISOString().replace(/\.\d+/, '') };
    return this.#put('ADDED', { ...body, metadata: { ...body.metadata, namespace, ...made } });
  }

  update(namespace: string, name: string, body: KubeLease): KubeLease {
    check(body, namespace, name);
    const version = body.metadata.resourceVersion ?? '';
    const before = this.get(namespace, name);
    if (version === '') {
      const message = `leases.coordination.k8s.io "${name}" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be specified for an update`;
      throw refusal(422, message);
    }
    if (version !== before.metadata.resourceVersion) throw conflict(name, 'the object has been modified');
    const { uid, creationTimestamp } = before.metadata;
    const metadata = {
      ...body.metadata,
      namespace,
      uid: uid ?? '',
      creationTimestamp: creationTimestamp ?? '',
    };
    return this.#put('MODIFIED', { ...body, metadata }, before);
  }

  remove(
    namespace: string,
    name: string,
    preconditions: { resourceVersion?: string; uid?: string } = {},
  ): KubeLease {
    const before = this.get(namespace, name);
    for (const field of ['resourceVersion', 'uid'] as const) {
      const wanted = preconditions[field];
      if (wanted === undefined || wanted === before.metadata[field]) continue;
      throw conflict(name, `Precondition failed: ${field}: ${wanted} is not ${before.metadata[field]}`);
    }
    this.#leases.delete(`${namespace}/${name}`);
    const metadata = { ...before.metadata, resourceVersion: String(++this.revision) };
    this.#tell({ type: 'DELETED', object: { ...before, metadata }, before, revision: this.revision });
    return before;
  }

  /** The changes after that version. */
  since(revision: number): LeaseEvent[] {
    return this.#history.filter((event) => event.revision > revision);
  }

  /** Forgets the history, so that watches can begin only now. */
  compact(): void {
    this.oldest = ++this.revision;
    this.#history.length = 0;
  }

  #put(type: 'ADDED' | 'MODIFIED', lease: KubeLease, before?: KubeLease): KubeLease {
    const metadata = { ...lease.metadata, resourceVersion: String(++this.revision) };
    const object = { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata, spec: lease.spec ?? {} };
    this.#leases.set(`${metadata.namespace}/${metadata.name}`, object);
    this.#tell({ type, object, ...(before === undefined ? {} : { before }), revision: this.revision });
    return object;
  }

  #tell(event: LeaseEvent): void {
    this.#history.push(event);
    for (const watcher of this.watchers) watcher(event);
  }
}

export function inNamespace(metadata: { namespace: string }, namespace: string | undefined): boolean {
  return namespace === undefined || metadata.namespace === namespace;
}

function conflict(name: string, why: string): unknown {
  const what = `Operation cannot be fulfilled on leases.coordination.k8s.io "${name}"`;
  return refusal(409, `${what}: ${why}`);
}

/** The API's own checks, as far as our objects could break them. */
function check(body: KubeLease, namespace: string, name: string | undefined): void {
  if (typeof body.metadata !== 'object') throw refusal(400, 'metadata is missing');
  const { metadata, spec = {} } = body;
  if (metadata.namespace !== undefined && metadata.namespace !== namespace) {
    throw refusal(400, 'the namespace of the object does not match the namespace of the request');
  }
  if (name === undefined || metadata.name !== name) {
    throw refusal(400, `the name of the object (${metadata.name}) does not match the name of the request`);
  }
  const invalid = (field: string): unknown =>
    refusal(422, `Lease.coordination.k8s.io "${name}" is invalid: ${field}`);
  if (!NAME.test(name) || name.length > 253) throw invalid('metadata.name: not a DNS subdomain');
  const { leaseDurationSeconds: seconds, renewTime, acquireTime } = spec;
  if (seconds !== undefined && !(Number.isInteger(seconds) && seconds > 0)) {
    throw invalid('spec.leaseDurationSeconds: must be greater than 0');
  }
  for (const time of [renewTime, acquireTime]) {
    if (time !== undefined && !MICRO_TIME.test(time)) throw refusal(400, `not a MicroTime: ${time}`);
  }
}
