import type { Clock } from '../ops/clock.ts';
import { FailureLog } from '../ops/failure-log.ts';
import type { Log } from '../ops/log.ts';
import { KubeFault } from './kube-fault.ts';
import { listAll } from './lease-pages.ts';
import { isCollectable, LeaseSightings } from './lease-sightings.ts';
import { incompleteText, leaseTerm } from './lease-term.ts';
import type { Lease, Leases } from './leases.ts';
import { type Observe, observeBy, type Tell } from './observe.ts';

/** Told of what the collector does, for metrics. */
export interface CollectorMetrics {
  readonly listed: Tell;
  readonly deleted: Tell;
  culled(): void;
}

export interface LeaseCollectorOptions {
  readonly leases: Leases;
  readonly labels: Readonly<Record<string, string>>;
  /** This one is kept by its publisher. */
  readonly ownName: string;
  readonly collectMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: CollectorMetrics;
}

/** Deletes the expired Leases of servers that are gone. */
export class LeaseCollector {
  readonly #options: LeaseCollectorOptions;
  readonly #sightings = new LeaseSightings();
  readonly #listFailures: FailureLog;
  readonly #deleteFailures: FailureLog;
  /** Names of Leases of which it was said that they are incomplete. */
  readonly #incomplete = new Set<string>();
  readonly #observeList: Observe;
  readonly #observeDelete: Observe;

  constructor(options: LeaseCollectorOptions) {
    const { clock, metrics } = options;
    const log = options.log.named('lease-collector');
    this.#options = { ...options, log };
    this.#listFailures = new FailureLog('Cannot look for expired Leases', log, clock);
    this.#deleteFailures = new FailureLog('Cannot delete an expired Lease', log, clock);
    this.#observeList = observeBy(clock, metrics.listed);
    this.#observeDelete = observeBy(clock, metrics.deleted);
  }

  /** Looks again and again, until the signal. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, collectMs } = this.#options;
    while (!signal.aborted) {
      await this.#round(signal);
      await clock.wait(collectMs, signal);
    }
  }

  async #round(signal: AbortSignal): Promise<void> {
    const { leases, labels } = this.#options;
    const labelSelector = Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(',');
    try {
      const { items } = await listAll(leases, { labelSelector }, signal, this.#observeList);
      this.#listFailures.worked('Expired Leases are looked for again');
      const names = new Set(items.map(({ metadata }) => metadata.name));
      this.#sightings.keep(names);
      for (const name of this.#incomplete) if (!names.has(name)) this.#incomplete.delete(name);
      for (const lease of items) {
        if (signal.aborted) return;
        if (this.#isCollectable(lease)) await this.#delete(lease, signal);
      }
    } catch (error) {
      if (!(error instanceof KubeFault)) throw error;
      if (!signal.aborted) this.#listFailures.failed(error);
    }
  }

  #isCollectable(lease: Lease): boolean {
    const { ownName, clock, log } = this.#options;
    const { name } = lease.metadata;
    if (name === ownName) return false;
    const term = leaseTerm(lease);
    if (term.kind === 'term') this.#incomplete.delete(name);
    else if (!this.#incomplete.has(name)) {
      this.#incomplete.add(name);
      log.warning(incompleteText(term.kind), { lease: name });
    }
    const sighting = this.#sightings.see(name, term, clock.monoMs());
    return isCollectable(term, sighting, clock.wallMs(), clock.monoMs());
  }

  async #delete(lease: Lease, signal: AbortSignal): Promise<void> {
    const { leases, log, metrics } = this.#options;
    const { name, resourceVersion } = lease.metadata;
    try {
      await this.#observeDelete(() => leases.delete(name, resourceVersion, signal));
      metrics.culled();
      this.#deleteFailures.worked('Expired Leases are deleted again');
      log.info(1, 'Deleted an expired Lease', { lease: name, renewTime: lease.spec?.renewTime });
    } catch (error) {
      if (!(error instanceof KubeFault)) throw error;
      if (signal.aborted) return;
      // Another server was faster, or its holder is alive after all.
      if (error.code === 'kube-not-found' || error.code === 'kube-conflict') {
        log.info(4, 'An expired Lease was deleted or renewed by somebody else', { lease: name });
      } else this.#deleteFailures.failed(error, { lease: name });
    }
  }
}
