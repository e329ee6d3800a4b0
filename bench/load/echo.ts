import { ECHO_BYTES, type LatencySummary, nowMs } from '../messages.ts';
import { Latencies } from './latencies.ts';
import { TunnelGroup } from './tunnel-group.ts';
import type { Workload, WorkloadTarget } from './workload.ts';

const MESSAGE = Buffer.alloc(ECHO_BYTES, 'e');

/** On each of the open tunnels, one message after the other: the next is sent when the last came back whole. */
export class Echo implements Workload {
  readonly #target: WorkloadTarget;
  readonly #group = new TunnelGroup();
  readonly #latencies = new Latencies();
  #echoes = 0;
  #stopping = false;

  constructor(target: WorkloadTarget) {
    this.#target = target;
  }

  async start(): Promise<void> {
    for (let i = 0; i < this.#target.tunnels; i++) this.#openOne();
    await this.#group.allOpen();
  }

  count(): number {
    this.#group.check();
    return this.#echoes;
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
    this.#group.destroy();
  }

  #openOne(): void {
    let sentAtMs = 0;
    let missing = ECHO_BYTES;
    this.#group.open(this.#target, {
      onOpen: (tunnel) => {
        sentAtMs = nowMs();
        tunnel.send(MESSAGE);
      },
      onData: (bytes, tunnel) => {
        missing -= bytes.length;
        if (missing > 0) return;
        missing = ECHO_BYTES;
        const now = nowMs();
        this.#latencies.add((now - sentAtMs) * 1000);
        this.#echoes++;
        if (this.#stopping) {
          tunnel.close();
          return;
        }
        sentAtMs = now;
        tunnel.send(MESSAGE);
      },
      onDrain: () => {},
    });
  }
}
