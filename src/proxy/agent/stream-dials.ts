import type { Socket } from 'node:net';
import { Fault, oneLine } from '../ops/fault.ts';

/** What one stream may have asked for and not been answered: above, dials are refused at once. */
export const MOST_PENDING_DIALS = 10_000;

/** What the dials of a stream need, and whom they tell. */
export interface StreamDialsOptions {
  /** Connects to a destination; aborts at once with the signal. Rejects with a Fault made for people. */
  connect(address: string, signal: AbortSignal): Promise<Socket>;
  readonly mostPending: number;
  onStart(dialId: bigint, address: string): void;
  /** The socket belongs to whoever is told. */
  onConnected(dialId: bigint, address: string, socket: Socket): void;
  /** Refused or failed; `started` says whether onStart was told of it. */
  onFailed(dialId: bigint, address: string, fault: Fault, started: boolean): void;
  /** The server gave up, or the stream ended. */
  onCancelled(dialId: bigint, address: string): void;
}

/** The dials of one stream that are not answered yet, by their IDs. Each of them ends in one call. */
export class StreamDials {
  readonly #options: StreamDialsOptions;
  readonly #pending = new Map<bigint, AbortController>();

  constructor(options: StreamDialsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#pending.size;
  }

  start(dialId: bigint, address: string, protocol: string): void {
    const refusal = this.#refusal(dialId, protocol);
    if (refusal === undefined) void this.#dial(dialId, address);
    else {
      const fault = new Fault('refused-dial', `dial ${oneLine(address, 300)}: ${refusal}`);
      this.#options.onFailed(dialId, address, fault, false);
    }
  }

  /** False when no such dial is pending. */
  cancel(dialId: bigint): boolean {
    const controller = this.#pending.get(dialId);
    controller?.abort();
    return controller !== undefined;
  }

  cancelAll(): void {
    for (const controller of this.#pending.values()) controller.abort();
  }

  #refusal(dialId: bigint, protocol: string): string | undefined {
    const { mostPending } = this.#options;
    if (protocol !== 'tcp') {
      return `protocol ${JSON.stringify(oneLine(protocol, 40))} is not supported, only tcp`;
    }
    if (this.#pending.has(dialId)) return 'a dial with the same ID is pending already';
    if (this.#pending.size >= mostPending) return `this agent has ${mostPending} dials pending already`;
    return undefined;
  }

  async #dial(dialId: bigint, address: string): Promise<void> {
    const { connect, onStart, onConnected, onFailed, onCancelled } = this.#options;
    const controller = new AbortController();
    this.#pending.set(dialId, controller);
    onStart(dialId, address);
    let result: Socket | Fault;
    try {
      result = await connect(address, controller.signal);
    } catch (error) {
      result = error instanceof Fault ? error : new Fault('failed', `dial failed: ${oneLine(String(error))}`);
    }
    this.#pending.delete(dialId);
    if (controller.signal.aborted) {
      // Connected in the very moment of the cancel.
      if (!(result instanceof Fault)) result.destroy();
      onCancelled(dialId, address);
    } else if (result instanceof Fault) {
      onFailed(dialId, address, result, true);
    } else {
      onConnected(dialId, address, result);
    }
  }
}
