import { ECHO_BYTES, type LatencySummary, nowMs } from '../messages.ts';
import { Latencies } from './latencies.ts';
import { TunnelGroup } from './tunnel-group.ts';
import type { Workload, WorkloadTarget } from './workload.ts';

const MESSAGE = Buffer.alloc(ECHO_BYTES, 'd');

/**
 * Opens a tunnel, has one message echoed, closes it, and begins anew when it is wholly closed. Counts what was closed;
 * the latencies are from the dial to the echo.
 */
export class Dials implements Workload {
  readonly #target: WorkloadTarget;
  readonly #group = new TunnelGroup();
  readonly #latencies = new Latencies();
  #dials = 0;
  #stopping = false;

  constructor(target: WorkloadTarget) {
    this.#target = target;
  }

  async start(): Promise<void> {
    for (let i = 0; i < this.#target.tunnels; i++) this.#dial();
  }

  count(): number {
    this.#group.check();
    return this.#dials;
  }

  mark(): void {
    this.#latencies.clear();
  }

  latencies(): LatencySummary {
    return this.#latencies.summary();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#group.allClosed();
  }

  destroy(): void {
    this.#stopping = true;
    this.#group.destroy();
  }

  #dial(): void {
    const beginMs = nowMs();
    let missing = ECHO_BYTES;
    this.#group.open(this.#target, {
      onOpen: (tunnel) => {
        tunnel.send(MESSAGE);
      },
      onData: (bytes, tunnel) => {
        missing -= bytes.length;
        if (missing > 0) return;
        this.#latencies.add((nowMs() - beginMs) * 1000);
        tunnel.close();
      },
      onDrain: () => {},
      onClosed: () => {
        if (this.#group.fault !== undefined) return;
        this.#dials++;
        if (!this.#stopping) this.#dial();
      },
    });
  }
}
