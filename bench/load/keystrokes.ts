import { setTimeout as delay } from 'node:timers/promises';
import { ECHO_BYTES, type LatencySummary, nowMs } from '../messages.ts';
import { Latencies } from './latencies.ts';
import { TunnelGroup } from './tunnel-group.ts';
import type { Workload, WorkloadTarget } from './workload.ts';

const MESSAGE = Buffer.alloc(ECHO_BYTES, 't');
/** Between an answer and the next message: quick typing, so that a cell has enough of them for a p99. */
const PAUSE_MS = 10;

/** Somebody who types in a terminal: a message, its echo, a pause. Counts echoes. */
export class Keystrokes implements Workload {
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
      onData: async (bytes, tunnel) => {
        missing -= bytes.length;
        if (missing > 0) return;
        missing = ECHO_BYTES;
        this.#latencies.add((nowMs() - sentAtMs) * 1000);
        this.#echoes++;
        await delay(PAUSE_MS);
        if (this.#stopping) {
          tunnel.close();
          return;
        }
        sentAtMs = nowMs();
        tunnel.send(MESSAGE);
      },
      onDrain: () => {},
    });
  }
}
