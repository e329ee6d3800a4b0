import { type LatencySummary, NO_LATENCIES } from '../messages.ts';
import type { Tunnel } from './tunnel.ts';
import { TunnelGroup } from './tunnel-group.ts';
import type { Workload, WorkloadTarget } from './workload.ts';

/** What is written at a time; twice kube-apiserver's copy buffer, to spare the generator half of its writes. */
const BLOCK = Buffer.alloc(64 * 1024, 'k');
const ENDLESS = Buffer.from('0\n');

/**
 * One direction as fast as it goes. `down` counts the bytes that arrive; `up` those handed to the tunnels, of which the
 * destination tells how many arrived.
 */
export class Bulk implements Workload {
  readonly #direction: 'down' | 'up';
  readonly #target: WorkloadTarget;
  readonly #group = new TunnelGroup();
  #bytes = 0;
  #stopping = false;

  constructor(direction: 'down' | 'up', target: WorkloadTarget) {
    this.#direction = direction;
    this.#target = target;
  }

  async start(): Promise<void> {
    const up = this.#direction === 'up';
    const pump = (tunnel: Tunnel): void => {
      let more = true;
      while (more && !this.#stopping) {
        more = tunnel.send(BLOCK);
        this.#bytes += BLOCK.length;
      }
    };
    for (let i = 0; i < this.#target.tunnels; i++) {
      this.#group.open(this.#target, {
        onOpen: (tunnel) => {
          if (up) pump(tunnel);
          else tunnel.send(ENDLESS);
        },
        onData: (bytes) => {
          this.#bytes += bytes.length;
        },
        onDrain: (tunnel) => {
          if (up) pump(tunnel);
        },
      });
    }
    await this.#group.allOpen();
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
    this.#stopping = true;
    for (const tunnel of this.#group.tunnels) tunnel.close();
    await this.#group.allClosed();
  }

  destroy(): void {
    this.#group.destroy();
  }
}
