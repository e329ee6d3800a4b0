import { ECHO_BYTES, type LatencySummary, NO_LATENCIES } from '../messages.ts';
import { TunnelGroup } from './tunnel-group.ts';
import type { Workload, WorkloadTarget } from './workload.ts';

const MESSAGE = Buffer.alloc(ECHO_BYTES, 'i');
/** How many are dialled at once: what a burst leaves behind is not what a tunnel costs. */
const AT_ONCE = 16;

/** Tunnels that carried one message and rest. Counts those. */
export class IdleTunnels implements Workload {
  readonly #target: WorkloadTarget;
  readonly #group = new TunnelGroup();
  #used = 0;
  #begun = 0;

  constructor(target: WorkloadTarget) {
    this.#target = target;
  }

  async start(): Promise<void> {
    await this.grow(this.#target.tunnels);
  }

  /** Opens further ones, until there are so many. @throws Error the first fault of any tunnel */
  async grow(tunnels: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const next = (): void => {
        if (this.#used >= tunnels || this.#group.fault !== undefined) resolve();
        else if (this.#begun < tunnels) this.#openOne(next);
      };
      for (let i = 0; i < AT_ONCE; i++) next();
    });
    this.#group.check();
  }

  count(): number {
    this.#group.check();
    return this.#used;
  }

  mark(): void {}

  latencies(): LatencySummary {
    return NO_LATENCIES;
  }

  async stop(): Promise<void> {
    for (const tunnel of this.#group.tunnels) tunnel.close();
    await this.#group.allClosed();
  }

  destroy(): void {
    this.#group.destroy();
  }

  #openOne(onUsed: () => void): void {
    let missing = ECHO_BYTES;
    this.#begun++;
    this.#group.open(this.#target, {
      onOpen: (tunnel) => {
        tunnel.send(MESSAGE);
      },
      onData: (bytes) => {
        missing -= bytes.length;
        if (missing !== 0) return;
        this.#used++;
        onUsed();
      },
      onDrain: () => {},
      onClosed: () => {
        if (this.#group.fault !== undefined) onUsed();
      },
    });
  }
}
