import { openTunnel, type Tunnel } from './tunnel.ts';
import type { WorkloadTarget } from './workload.ts';

/** What a workload does with one of its tunnels. */
export interface MemberHandler {
  onOpen(tunnel: Tunnel): void;
  onData(bytes: Buffer, tunnel: Tunnel): void;
  onDrain(tunnel: Tunnel): void;
  onClosed?(): void;
}

/** The tunnels of one workload: all open, all closed, or the first fault of any. */
export class TunnelGroup {
  readonly #tunnels = new Set<Tunnel>();
  #fault: Error | undefined;
  #wanted = 0;
  #opened = 0;
  #onChange: (() => void) | undefined;

  get tunnels(): ReadonlySet<Tunnel> {
    return this.#tunnels;
  }

  get fault(): Error | undefined {
    return this.#fault;
  }

  open({ entry, port }: WorkloadTarget, handler: MemberHandler): void {
    this.#wanted++;
    const tunnel = openTunnel(entry, port, {
      onOpen: () => {
        this.#opened++;
        handler.onOpen(tunnel);
        this.#onChange?.();
      },
      onData: (bytes) => handler.onData(bytes, tunnel),
      onDrain: () => handler.onDrain(tunnel),
      onClosed: (fault) => {
        this.#tunnels.delete(tunnel);
        if (fault !== undefined) this.#fault ??= new Error(fault);
        handler.onClosed?.();
        this.#onChange?.();
      },
    });
    this.#tunnels.add(tunnel);
  }

  /** @throws the first fault */
  check(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  async allOpen(): Promise<void> {
    await this.#until(() => this.#opened === this.#wanted);
  }

  async allClosed(): Promise<void> {
    await this.#until(() => this.#tunnels.size === 0);
  }

  destroy(): void {
    for (const tunnel of this.#tunnels) tunnel.destroy();
  }

  async #until(done: () => boolean): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onChange = (): void => {
        if (this.#fault !== undefined || done()) resolve();
      };
      this.#onChange();
    });
    this.#onChange = undefined;
    this.check();
  }
}
