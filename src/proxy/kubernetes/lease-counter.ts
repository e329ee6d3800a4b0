import type { Clock } from '../ops/clock.ts';
import { FailureLog } from '../ops/failure-log.ts';
import type { Log } from '../ops/log.ts';
import { KubeFault } from './kube-fault.ts';
import { listAll } from './lease-pages.ts';
import { LeaseSightings, validForMs } from './lease-sightings.ts';
import { incompleteText, type LeaseTerm, leaseTerm } from './lease-term.ts';
import type { Lease, Leases } from './leases.ts';
import { type Observe, observeBy, type Tell } from './observe.ts';
import type { WatchEvent } from './watch-events.ts';

/** Times of a counter; tests shrink them. */
export interface LeaseCounterTimes {
  /** The API is asked to end a watch after this (and up to twice this), so that its servers share the watches. */
  readonly watchMs: number;
  /** A watch on which nothing comes for this long is begun anew. */
  readonly silentMs: number;
  /** Between attempts that fail: from the first, doubling up to the last. */
  readonly retryFirstMs: number;
  readonly retryMostMs: number;
}

export const defaultLeaseCounterTimes: LeaseCounterTimes = {
  watchMs: 300_000,
  silentMs: 120_000,
  retryFirstMs: 500,
  retryMostMs: 10_000,
};

export interface LeaseCounterOptions {
  readonly leases: Leases;
  /** A label selector, which the API applies. */
  readonly selector: string;
  readonly times: LeaseCounterTimes;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: { readonly listed: Tell; readonly watched: Tell };
  /** The count changed. */
  onChange(count: number): void;
}

/** More than these are not kept: an agent does not believe in so many servers either. */
const MOST_LEASES = 10_000;
/** The clock of a holder may differ by this before it is said. */
const SKEW_SAID_MS = 10_000;
/** The clock of this machine may jump: the count is looked at again after this at the latest. */
const LOOK_MS = 30_000;

/** Counts the valid Leases of servers: lists them, and follows them by a watch. */
export class LeaseCounter {
  readonly #options: LeaseCounterOptions;
  readonly #sightings = new LeaseSightings();
  readonly #terms = new Map<string, LeaseTerm>();
  readonly #failures: FailureLog;
  readonly #observeList: Observe;
  /** Names of Leases of which it was said that they are incomplete, or that the clock of their holder differs. */
  readonly #incomplete = new Set<string>();
  readonly #skewed = new Set<string>();
  /** Ends the wait for the next Lease to expire. */
  #wait = new AbortController();
  /** Valid Leases, which may be none; undefined before the first list. */
  #valid: number | undefined;

  constructor(options: LeaseCounterOptions) {
    const { clock, metrics } = options;
    const log = options.log.named('lease-counter');
    this.#options = { ...options, log };
    this.#failures = new FailureLog('Cannot follow the Leases of servers', log, clock);
    this.#observeList = observeBy(clock, metrics.listed);
  }

  /** Valid Leases; 1 when there are none, or nothing is known yet. */
  get count(): number {
    return Math.max(1, this.#valid ?? 1);
  }

  /** Counts until the signal. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { times, clock, log } = this.#options;
    let failures = 0;
    const steady = (): void => {
      failures = 0;
    };
    while (!signal.aborted) {
      try {
        let version = await this.#list(signal);
        while (!signal.aborted) version = await this.#watch(version, signal, steady);
      } catch (error) {
        if (!(error instanceof KubeFault)) throw error;
        if (signal.aborted) break;
        // That a version is gone, or a watch silent, is usual; a new list mends it.
        if (failures === 0 && isUsual(error)) log.info(2, 'Leases are read anew', { reason: error.line });
        else this.#failures.failed(error, { counting: this.count });
      }
      await clock.wait(Math.min(times.retryFirstMs * 2 ** failures, times.retryMostMs), signal);
      failures++;
    }
    this.#wait.abort();
  }

  /** Reads all Leases. Resolves with the version to watch from. */
  async #list(signal: AbortSignal): Promise<string> {
    const { leases, selector } = this.#options;
    const { items, version } = await listAll(leases, selectorQuery(selector), signal, this.#observeList);
    this.#terms.clear();
    for (const lease of items) this.#note(lease, false);
    const names = new Set(items.map(({ metadata }) => metadata.name));
    this.#sightings.keep(names);
    for (const said of [this.#incomplete, this.#skewed]) {
      for (const name of said) if (!names.has(name)) said.delete(name);
    }
    this.#settle();
    return version;
  }

  /** Follows one watch until the API ends it in order. Resolves with the version to go on from. @throws KubeFault */
  async #watch(from: string, signal: AbortSignal, steady: () => void): Promise<string> {
    const { leases, selector, times, clock, metrics } = this.#options;
    const seconds = Math.ceil((times.watchMs * (1 + Math.random())) / 1000);
    const query = {
      ...selectorQuery(selector),
      resourceVersion: from,
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(seconds),
    };
    let opened = false;
    const onOpen = (): void => {
      opened = true;
      metrics.watched(200, '', 0);
      this.#failures.worked('The Leases of servers are followed again', { servers: this.count });
    };
    const startMs = clock.monoMs();
    let version = from;
    try {
      for await (const event of leases.watch(query, { signal, silentMs: times.silentMs, onOpen })) {
        steady();
        version = event.object.metadata.resourceVersion ?? version;
        this.#apply(event);
      }
    } catch (error) {
      if (!opened && error instanceof KubeFault && error.httpStatus !== undefined) {
        metrics.watched(error.httpStatus, error.kubeReason, 0);
      }
      throw error;
    }
    // Something between us and the API may end each watch at once.
    if (clock.monoMs() - startMs < times.retryFirstMs) await clock.wait(times.retryFirstMs, signal);
    return version;
  }

  #apply({ type, object }: WatchEvent<Lease>): void {
    const { name } = object.metadata;
    switch (type) {
      case 'ADDED':
      case 'MODIFIED':
        this.#note(object, true);
        break;
      case 'DELETED':
        this.#terms.delete(name);
        this.#sightings.forget(name);
        this.#incomplete.delete(name);
        this.#skewed.delete(name);
        break;
      case 'BOOKMARK':
        return;
    }
    this.#settle();
  }

  /** @param live it came by a watch, so that it is news */
  #note(lease: Lease, live: boolean): void {
    const { clock, log } = this.#options;
    const { name } = lease.metadata;
    if (!this.#terms.has(name) && this.#terms.size >= MOST_LEASES) return;
    const term = leaseTerm(lease);
    const nowMs = clock.monoMs();
    const sighting = this.#sightings.see(name, term, nowMs);
    this.#terms.set(name, term);
    if (term.kind !== 'term') {
      if (!this.#incomplete.has(name)) log.warning(incompleteText(term.kind), { lease: name });
      this.#incomplete.add(name);
      return;
    }
    this.#incomplete.delete(name);
    if (live && sighting.renewedHere && sighting.seenAtMs === nowMs) {
      this.#checkClock(name, term.renewedMs - clock.wallMs());
    }
  }

  /** A renewal that came just now tells what time it is at its holder. */
  #checkClock(name: string, aheadMs: number): void {
    const { log } = this.#options;
    if (Math.abs(aheadMs) < SKEW_SAID_MS) {
      if (this.#skewed.delete(name))
        log.info(1, 'The clock of a server agrees with ours again', { lease: name });
    } else if (!this.#skewed.has(name)) {
      this.#skewed.add(name);
      const side = aheadMs > 0 ? 'ahead of' : 'behind';
      const seconds = Math.round(Math.abs(aheadMs) / 1000);
      log.warning(`The clock of a server is ${side} ours: compare the clocks`, { lease: name, seconds });
    }
  }

  /** Counts what is known, tells of a change, and comes again when the next Lease expires. */
  #settle(): void {
    const { clock, log, onChange, selector } = this.#options;
    const [wallMs, monoMs] = [clock.wallMs(), clock.monoMs()];
    let valid = 0;
    let nextMs = LOOK_MS;
    for (const [name, term] of this.#terms) {
      const leftMs = validForMs(term, this.#sightings.see(name, term, monoMs), wallMs, monoMs);
      if (leftMs <= 0) continue;
      valid++;
      nextMs = Math.min(nextMs, leftMs);
    }
    const [before, count] = [this.#valid, this.count];
    this.#valid = valid;
    if (valid !== before) {
      const known = this.#terms.size;
      if (valid === 0) log.warning('No Lease of a server is valid: counting 1', { known, selector });
      else log.info(1, 'Number of servers by their Leases', { servers: valid, before });
    }
    if (this.count !== count) onChange(this.count);
    this.#wait.abort();
    if (valid === 0) return;
    const wait = new AbortController();
    this.#wait = wait;
    void clock.wait(nextMs, wait.signal).then(() => {
      if (!wait.signal.aborted) this.#settle();
    });
  }
}

function selectorQuery(labelSelector: string): Record<string, string> {
  return labelSelector.trim() === '' ? {} : { labelSelector };
}

function isUsual({ code }: KubeFault): boolean {
  return code === 'kube-gone' || code === 'kube-timeout';
}
