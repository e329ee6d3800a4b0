import type { Clock } from '../ops/clock.ts';
import { Fault } from '../ops/fault.ts';
import type { Log } from '../ops/log.ts';
import { type CollectorMetrics, LeaseCollector } from './lease-collector.ts';
import { leaseNameOf } from './lease-name.ts';
import { LeasePublisher } from './lease-publisher.ts';
import type { LeaseTimes } from './lease-times.ts';
import type { Leases } from './leases.ts';

export interface LeaseControllerOptions {
  readonly leases: Leases;
  readonly serverId: string;
  /** Of the Leases: ours gets them, and expired ones that have them are deleted. */
  readonly labels: Readonly<Record<string, string>>;
  readonly times: LeaseTimes;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: CollectorMetrics;
}

/** What a server does with Leases: publishes its own, deletes those of others that are gone. */
export class LeaseController {
  readonly #options: LeaseControllerOptions;
  readonly #publisher: LeasePublisher;
  readonly #collector: LeaseCollector;
  readonly #stop = new AbortController();
  readonly #cut = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: LeaseControllerOptions) {
    const { leases, serverId, labels, times, clock, log, metrics } = options;
    const leaseName = leaseNameOf(serverId);
    this.#options = options;
    this.#publisher = new LeasePublisher({ leases, leaseName, holder: serverId, labels, times, clock, log });
    const { collectMs } = times;
    this.#collector = new LeaseCollector({
      leases,
      labels,
      ownName: leaseName,
      collectMs,
      clock,
      log,
      metrics,
    });
  }

  start(): void {
    this.#running = Promise.all([
      this.#publisher.run(this.#stop.signal, this.#cut.signal),
      this.#collector.run(this.#stop.signal),
    ]);
  }

  /** Ends both and deletes our Lease, within `stopMs`; at once and without that when `hurry` is aborted. */
  async stop(hurry: AbortSignal): Promise<void> {
    const { times, clock } = this.#options;
    const over = new AbortController();
    const cut = (): void => this.#cut.abort(new Error('stopping'));
    void clock.wait(times.stopMs, AbortSignal.any([hurry, over.signal])).then(cut);
    this.#stop.abort(new Error('stopping'));
    await this.#running;
    try {
      if (!this.#cut.signal.aborted) await this.#publisher.remove(this.#cut.signal);
      else this.#sayLeft('there was no time');
    } catch (error) {
      this.#sayLeft(error instanceof Fault ? error.line : String(error));
    } finally {
      over.abort();
    }
  }

  #sayLeft(reason: string): void {
    const { times, log, serverId } = this.#options;
    const inSeconds = times.durationSeconds;
    log.warning('Our Lease could not be deleted: it expires by itself', {
      lease: leaseNameOf(serverId),
      inSeconds,
      reason,
    });
  }
}
