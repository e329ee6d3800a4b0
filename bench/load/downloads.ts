import { DOWNLOAD_BYTES, type LatencySummary, NO_LATENCIES } from '../messages.ts';
import { matchesPattern } from '../pattern.ts';
import { openTunnel, type Tunnel } from './tunnel.ts';
import type { Workload, WorkloadTarget } from './workload.ts';

/**
 * Downloads of 5 MB at once, which begin together when all tunnels are open. Each has bytes of its own, which are
 * compared as they come; the destination ends each tunnel. Counts bytes that were right.
 */
export class Downloads implements Workload {
  readonly #target: WorkloadTarget;
  readonly #tunnels = new Set<Tunnel>();
  readonly #faults: string[] = [];
  #bytes = 0;
  #opened = 0;
  #onClosed: (() => void) | undefined;

  constructor(target: WorkloadTarget) {
    this.#target = target;
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => {
      const requests: (() => void)[] = [];
      const opened = (request: () => void): void => {
        requests.push(request);
        this.#opened++;
        if (this.#opened < this.#target.tunnels) return;
        for (const each of requests) each();
        resolve();
      };
      this.#onClosed = resolve;
      for (let seed = 0; seed < this.#target.tunnels; seed++) this.#download(seed, opened);
    });
    this.#check();
  }

  count(): number {
    return this.#bytes;
  }

  mark(): void {}

  latencies(): LatencySummary {
    return NO_LATENCIES;
  }

  /** Resolves when all have ended by themselves. */
  async stop(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onClosed = (): void => {
        if (this.#tunnels.size === 0) resolve();
      };
      this.#onClosed();
    });
    this.#check();
  }

  destroy(): void {
    for (const tunnel of this.#tunnels) tunnel.destroy();
  }

  #download(seed: number, opened: (request: () => void) => void): void {
    let at = 0;
    let fault: string | undefined;
    const tunnel = openTunnel(this.#target.entry, this.#target.port, {
      onOpen: () => opened(() => tunnel.send(Buffer.from(`${DOWNLOAD_BYTES} ${seed}\n`))),
      onData: (bytes) => {
        if (fault !== undefined) return;
        if (at + bytes.length > DOWNLOAD_BYTES) fault = `more than ${DOWNLOAD_BYTES} bytes`;
        else if (!matchesPattern(seed, at, bytes))
          fault = `wrong bytes between ${at} and ${at + bytes.length}`;
        else this.#bytes += bytes.length;
        at += bytes.length;
        if (at >= DOWNLOAD_BYTES) tunnel.close();
      },
      onDrain: () => {},
      onClosed: (closeFault) => {
        this.#tunnels.delete(tunnel);
        const missing = at < DOWNLOAD_BYTES ? `ended after ${at} bytes` : undefined;
        const found = fault ?? closeFault ?? missing;
        if (found !== undefined) this.#faults.push(`download ${seed}: ${found}`);
        this.#onClosed?.();
      },
    });
    this.#tunnels.add(tunnel);
  }

  #check(): void {
    const [first] = this.#faults;
    if (first === undefined) return;
    throw new Error(`${this.#faults.length} of ${this.#target.tunnels} downloads failed; ${first}`);
  }
}
