import { type Address, type Entry, type LatencySummary, NO_LATENCIES } from '../messages.ts';
import { openTunnelTo, type Tunnel } from './tunnel.ts';
import type { Workload } from './workload.ts';

/** Keeps a number of dials to an address where connects hang. One that ends is followed by another; counts those. */
export class BlackHoleDials implements Workload {
  readonly #entry: Entry;
  readonly #hole: Address;
  readonly #dials: number;
  readonly #tunnels = new Set<Tunnel>();
  #ended = 0;
  #opened = 0;
  #stopping = false;

  constructor(entry: Entry, hole: Address, dials: number) {
    this.#entry = entry;
    this.#hole = hole;
    this.#dials = dials;
  }

  async start(): Promise<void> {
    for (let i = 0; i < this.#dials; i++) this.#dial();
  }

  count(): number {
    if (this.#opened > 0) throw new Error('the black hole accepted a connection');
    return this.#ended;
  }

  mark(): void {}

  latencies(): LatencySummary {
    return NO_LATENCIES;
  }

  async stop(): Promise<void> {
    this.destroy();
  }

  destroy(): void {
    this.#stopping = true;
    for (const tunnel of this.#tunnels) tunnel.destroy();
  }

  #dial(): void {
    const tunnel = openTunnelTo(this.#entry, this.#hole, {
      onOpen: () => {
        this.#opened++;
      },
      onData: () => {},
      onDrain: () => {},
      onClosed: () => {
        this.#tunnels.delete(tunnel);
        if (this.#stopping) return;
        this.#ended++;
        this.#dial();
      },
    });
    this.#tunnels.add(tunnel);
  }
}
