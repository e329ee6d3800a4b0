import type { Clock } from '../ops/clock.ts';
import { FailureLog } from '../ops/failure-log.ts';
import type { Log } from '../ops/log.ts';
import { KubeFault } from './kube-fault.ts';
import { microTime } from './lease-term.ts';
import type { LeaseTimes } from './lease-times.ts';
import type { Lease, Leases } from './leases.ts';

export interface LeasePublisherOptions {
  readonly leases: Leases;
  readonly leaseName: string;
  readonly holder: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly times: LeaseTimes;
  readonly clock: Clock;
  readonly log: Log;
}

/** Writes in a row for one renewal, while others write to the same Lease. */
const MOST_WRITES = 5;
/** Servers do not renew at the same instant: up to this share later. */
const JITTER = 0.04;
/** The clocks of this machine and the API may differ by this before it is said. */
const SKEW_SAID_MS = 10_000;

/** Keeps one Lease: creates it, renews it, takes over one that is there, makes it again when it was deleted. */
export class LeasePublisher {
  readonly #options: LeasePublisherOptions;
  readonly #failures: FailureLog;
  /** As the API last gave it to us. */
  #latest: Lease | undefined;
  #published = false;

  constructor(options: LeasePublisherOptions) {
    const log = options.log.named('lease-publisher');
    this.#options = { ...options, log };
    this.#failures = new FailureLog(`Lease ${options.leaseName} cannot be renewed`, log, options.clock);
  }

  /**
   * Renews until `stop`. A renewal that is under way then goes on until `cut`, because nobody knows what becomes of a
   * request that was given up. Never rejects.
   */
  async run(stop: AbortSignal, cut: AbortSignal): Promise<void> {
    const { times, clock } = this.#options;
    let failures = 0;
    while (!stop.aborted) {
      const fault = await this.#renew(cut);
      if (stop.aborted) return;
      failures = fault === undefined ? 0 : failures + 1;
      const ms =
        fault === undefined || isLasting(fault)
          ? times.renewMs * (1 + JITTER * Math.random())
          : Math.min(times.retryFirstMs * 2 ** (failures - 1), times.retryMostMs);
      await clock.wait(ms, stop);
    }
  }

  /** Deletes the Lease, unless somebody else wrote to it since: then it is theirs. @throws KubeFault */
  async remove(signal: AbortSignal): Promise<void> {
    const { leases, leaseName, log } = this.#options;
    const version = this.#latest?.metadata.resourceVersion;
    if (version === undefined) return;
    this.#latest = undefined;
    try {
      await leases.delete(leaseName, version, signal);
      log.info(1, 'Deleted our Lease', { lease: leaseName });
    } catch (error) {
      if (!isCode(error, 'kube-not-found', 'kube-conflict')) throw error;
      log.info(1, 'Our Lease is no longer ours to delete', { lease: leaseName, reason: error.line });
    }
  }

  /** One renewal; resolves with what it failed with. */
  async #renew(signal: AbortSignal): Promise<KubeFault | undefined> {
    const { leaseName, log } = this.#options;
    try {
      await this.#write(signal);
    } catch (error) {
      if (!(error instanceof KubeFault)) throw error;
      if (!signal.aborted) this.#failures.failed(error);
      return error;
    }
    this.#failures.worked('Lease is renewed again', { lease: leaseName });
    if (!this.#published) log.info(1, 'Published our Lease', { lease: leaseName });
    this.#published = true;
    return undefined;
  }

  async #write(signal: AbortSignal): Promise<void> {
    const { leases, leaseName, log } = this.#options;
    for (let writes = 1; ; writes++) {
      try {
        this.#latest ??= await this.#find(signal);
        if (this.#latest === undefined) {
          this.#latest = (await leases.create(this.#renewed(undefined), signal)).body;
          this.#checkClock(this.#latest);
        } else {
          this.#latest = (await leases.update(this.#renewed(this.#latest), signal)).body;
        }
        return;
      } catch (error) {
        // Deleted, or written by somebody else: look again what there is.
        if (!isCode(error, 'kube-not-found', 'kube-conflict') || writes === MOST_WRITES) throw error;
        const deleted = error.code === 'kube-not-found';
        if (deleted && this.#latest === undefined) throw error;
        const change = deleted ? 'was deleted by somebody else' : 'was changed by somebody else';
        log.info(deleted ? 1 : 2, `Our Lease ${change}`, { lease: leaseName });
        this.#latest = undefined;
      }
    }
  }

  async #find(signal: AbortSignal): Promise<Lease | undefined> {
    const { leases, leaseName } = this.#options;
    try {
      return (await leases.get(leaseName, signal)).body;
    } catch (error) {
      if (isCode(error, 'kube-not-found')) return undefined;
      throw error;
    }
  }

  #renewed(base: Lease | undefined): Lease {
    const { leaseName, holder, labels, times, clock } = this.#options;
    return {
      ...base,
      metadata: { ...base?.metadata, name: leaseName, labels },
      spec: {
        ...base?.spec,
        holderIdentity: holder,
        leaseDurationSeconds: times.durationSeconds,
        renewTime: microTime(clock.wallMs()),
      },
    };
  }

  /** A Lease just made tells what time it is at the API. */
  #checkClock({ metadata }: Lease): void {
    const { clock, log } = this.#options;
    const differenceMs = Date.parse(metadata.creationTimestamp ?? '') - clock.wallMs();
    if (Number.isNaN(differenceMs) || Math.abs(differenceMs) < SKEW_SAID_MS) return;
    const side = differenceMs > 0 ? 'behind' : 'ahead of';
    log.warning(
      `The clock of this machine is ${side} that of the Kubernetes API: others misjudge our Lease`,
      {
        seconds: Math.round(Math.abs(differenceMs) / 1000),
      },
    );
  }
}

function isCode(error: unknown, ...codes: KubeFault['code'][]): error is KubeFault {
  return error instanceof KubeFault && codes.includes(error.code);
}

/** Nothing that goes away by asking again soon. */
function isLasting(fault: KubeFault): boolean {
  return ['kube-forbidden', 'kube-unauthorized', 'kube-refused', 'kube-not-found'].includes(fault.code);
}
