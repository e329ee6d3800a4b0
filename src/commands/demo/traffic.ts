import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../proxy/ops/fault.ts';
import { requestThrough } from './request.ts';
import type { Scene } from './scene.ts';

export interface TrafficOptions {
  readonly everyMs: number;
  /** The names by which the target is dialled, in turn. */
  readonly hosts: readonly string[];
  readonly signal: AbortSignal;
  /** A request failed; the next one follows all the same. */
  onFailure(fault: Fault): void;
}

/** A request through the tunnel every now and then, and who carried it. */
export class Traffic {
  readonly #scene: Scene;
  readonly #options: TrafficOptions;
  #counts = new Map<string, number>();
  failures = 0;

  constructor(scene: Scene, options: TrafficOptions) {
    this.#scene = scene;
    this.#options = options;
  }

  /** Runs until the signal; one request at a time. */
  async run(): Promise<void> {
    const { everyMs, hosts, signal } = this.#options;
    for (let i = 0; !signal.aborted; i++) {
      await this.#ask(hosts[i % hosts.length] ?? '127.0.0.1');
      await sleep(everyMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Requests for each agent since the last call. */
  takeCounts(): Map<string, number> {
    const counts = this.#counts;
    this.#counts = new Map();
    return counts;
  }

  async #ask(host: string): Promise<void> {
    const { signal, onFailure } = this.#options;
    try {
      const onTunnel = (id: string): void => {
        this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
      };
      await requestThrough(this.#scene, { via: this.#scene.tls, host, path: '/traffic', signal, onTunnel });
    } catch (error) {
      if (signal.aborted) return;
      this.failures++;
      onFailure(error instanceof Fault ? error : new Fault('failed', String(error)));
    }
  }
}

/** `demo-a 4, demo-b 0, demo-c 5`, for all agents of the scene. */
export function countsText(scene: Scene, counts: ReadonlyMap<string, number>): string {
  return [...scene.agents.keys()].map((id) => `${id} ${counts.get(id) ?? 0}`).join(', ');
}
