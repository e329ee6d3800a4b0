import { type LatencySummary, NO_LATENCIES } from '../messages.ts';
import { TunnelGroup } from './tunnel-group.ts';
import type { Workload, WorkloadTarget } from './workload.ts';

const ENDLESS = Buffer.from('0\n');

/** Asks for endless bytes, reads the first of them and then nothing more. Counts what it did read. */
export class StalledDownloads implements Workload {
  readonly #target: WorkloadTarget;
  readonly #group = new TunnelGroup();
  #bytes = 0;
  #paused = 0;

  constructor(target: WorkloadTarget) {
    this.#target = target;
  }

  /** Resolves when nobody reads any more. */
  async start(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      for (let i = 0; i < this.#target.tunnels; i++) {
        let first = true;
        this.#group.open(this.#target, {
          onOpen: (tunnel) => {
            tunnel.send(ENDLESS);
          },
          onData: (bytes, tunnel) => {
            this.#bytes += bytes.length;
            tunnel.pause();
            if (first && ++this.#paused === this.#target.tunnels) resolve();
            first = false;
          },
          onDrain: () => {},
          onClosed: () => reject(this.#group.fault ?? new Error('the stalled tunnel was closed')),
        });
      }
    });
  }

  count(): number {
    this.#group.check();
    return this.#bytes;
  }

  mark(): void {}

  latencies(): LatencySummary {
    return NO_LATENCIES;
  }

  async stop(): Promise<void> {
    this.#group.destroy();
  }

  destroy(): void {
    this.#group.destroy();
  }
}
