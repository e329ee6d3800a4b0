import { readFileSync } from 'node:fs';
import { createKubeApi, type KubeApi } from '../../src/proxy/kubernetes/kube-api.ts';
import { LeaseController, type LeaseControllerOptions } from '../../src/proxy/kubernetes/lease-controller.ts';
import { LeaseCounter, type LeaseCounterOptions } from '../../src/proxy/kubernetes/lease-counter.ts';
import { Leases } from '../../src/proxy/kubernetes/leases.ts';
import { createLog } from '../../src/proxy/ops/log.ts';
import { FakeKubeApi } from '../peers/fake-kube-api.ts';
import { Inbox } from '../peers/inbox.ts';
import type { KubeLease } from '../peers/kube/lease-store.ts';
import { ManualClock } from '../peers/manual-clock.ts';
import { noSocketsLeft, openSockets } from '../peers/sockets-left.ts';

export const NAMESPACE = 'kube-system';
export const LABELS = { 'k8s-app': 'konnectivity-server' };

/** Answers of the API as metrics are told of them: `verb status reason`. */
type Answers = string[];

/** A Kubernetes API, a clock that the test moves, and what was logged. */
export class LeaseCase {
  readonly api: FakeKubeApi;
  readonly clock = new ManualClock();
  readonly lines = new Inbox<string>();
  readonly answers: Answers = [];
  readonly counts = new Inbox<number>();
  readonly never = new AbortController().signal;
  readonly leases: Leases;
  readonly #kube: KubeApi;
  readonly #ends: (() => Promise<unknown>)[] = [];
  culled = 0;

  constructor(api: FakeKubeApi) {
    this.api = api;
    const credentials = async () => ({
      headers: { authorization: `Bearer ${api.token}` },
      tls: { ca: readFileSync(api.caFile), rejectUnauthorized: true },
      proxy: undefined,
    });
    this.#kube = createKubeApi({ server: api.url, credentials }, { perSecond: -1, burst: 0 });
    this.leases = new Leases(this.#kube, NAMESPACE);
  }

  get log() {
    return createLog({ verbosity: 4, write: (line) => this.lines.push(line) });
  }

  /** A running controller; ended with the case if the test does not. */
  controller(serverId = 'server-1', more: Partial<LeaseControllerOptions> = {}): LeaseController {
    const { leases, clock, log } = this;
    const controller = new LeaseController({
      leases,
      serverId,
      labels: LABELS,
      times: TIMES,
      clock,
      log,
      metrics: {
        listed: (status, reason) => void this.answers.push(`list ${status} ${reason}`.trim()),
        deleted: (status, reason) => void this.answers.push(`delete ${status} ${reason}`.trim()),
        culled: () => {
          this.culled++;
        },
      },
      ...more,
    });
    controller.start();
    this.#ends.push(() => controller.stop(AbortSignal.abort()));
    return controller;
  }

  /** A running counter. */
  counter(more: Partial<LeaseCounterOptions> = {}): LeaseCounter {
    const { leases, clock, log } = this;
    const counter = new LeaseCounter({
      leases,
      selector: 'k8s-app=konnectivity-server',
      times: { watchMs: 300_000, silentMs: 120_000, retryFirstMs: 500, retryMostMs: 10_000 },
      clock,
      log,
      metrics: {
        listed: (status, reason) => void this.answers.push(`list ${status} ${reason}`.trim()),
        watched: (status, reason) => void this.answers.push(`watch ${status} ${reason}`.trim()),
      },
      onChange: (count) => this.counts.push(count),
      ...more,
    });
    const stop = new AbortController();
    const running = counter.run(stop.signal);
    this.#ends.push(() => {
      stop.abort(new Error('over'));
      return running;
    });
    return counter;
  }

  /** Writes a Lease into the API that was renewed `ageMs` ago. */
  put(
    name: string,
    ageMs = 0,
    more: { [Field in keyof KubeLease['spec']]?: KubeLease['spec'][Field] | undefined } = {},
    labels: Record<string, string> = LABELS,
  ): void {
    const renewTime = this.time(-ageMs);
    const spec = { holderIdentity: name, leaseDurationSeconds: 30, renewTime, ...more } as KubeLease['spec'];
    const body = { metadata: { name, namespace: NAMESPACE, labels }, spec };
    const before = this.api.leases.list(NAMESPACE).find((one) => one.metadata.name === name);
    if (before === undefined) this.api.leases.create(NAMESPACE, body);
    else this.api.leases.update(NAMESPACE, name, { metadata: { ...before.metadata, labels }, spec });
  }

  /** The time in `ms`, as a Lease has it. */
  time(ms: number): string {
    return new Date(this.clock.wallMs() + ms).toISOString().replace('Z', '000Z');
  }

  names(): string[] {
    return this.api.leases.list(NAMESPACE).map(({ metadata }) => metadata.name);
  }

  /** The first line with that text, once it is logged. */
  logged(text: string): Promise<string> {
    const earlier = this.lines.all.find((line) => line.includes(text));
    return earlier === undefined ? this.lines.next((line) => line.includes(text)) : Promise.resolve(earlier);
  }

  /** How many lines with that text were logged. */
  said(text: string): number {
    return this.lines.all.filter((line) => line.includes(text)).length;
  }

  async close(): Promise<void> {
    for (const end of this.#ends) await end();
    this.#kube.close();
    await this.api.close();
  }
}

export const TIMES = {
  durationSeconds: 30,
  renewMs: 15_000,
  collectMs: 15_000,
  retryFirstMs: 200,
  retryMostMs: 7_000,
  stopMs: 5_000,
};

/** Runs a test on a case of its own, and checks that no socket is left. */
export async function leaseCase(run: (parts: LeaseCase) => Promise<void>): Promise<void> {
  const before = openSockets();
  const parts = new LeaseCase(await FakeKubeApi.start());
  try {
    await run(parts);
  } finally {
    await parts.close();
  }
  await noSocketsLeft(before);
}
