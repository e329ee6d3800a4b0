import type { Clock } from '../../ops/clock.ts';
import type { Backend } from '../backend.ts';
import type { StreamRegistry } from '../selection/stream-registry.ts';
import { BackendOrders } from './backend-orders.ts';
import type { OrderLedger } from './order-ledger.ts';

/** Holds the draining marks of streams to the orders of their agents, and to what agents say of themselves. */
export class StreamMarks {
  readonly #registry: StreamRegistry<Backend>;
  readonly #ledger: OrderLedger;
  readonly #clock: Clock;
  readonly #streams = new Map<Backend, BackendOrders>();

  constructor(registry: StreamRegistry<Backend>, ledger: OrderLedger, clock: Clock) {
    this.#registry = registry;
    this.#ledger = ledger;
    this.#clock = clock;
  }

  /** A stream that is about to be registered. */
  add(backend: Backend): BackendOrders {
    const stream = new BackendOrders(backend, this.#clock);
    this.#streams.set(backend, stream);
    return stream;
  }

  of(backend: Backend): BackendOrders | undefined {
    return this.#streams.get(backend);
  }

  remove(backend: Backend): void {
    this.#streams.delete(backend);
  }

  /** Sets and takes the marks of an agent's streams as its orders are now. */
  hold(agentId: string): void {
    const streams = this.#registry.streamsOf(agentId);
    // A process that leaves does so on all its streams.
    const leaving = new Set(streams.map((backend) => (backend.leaving ? backend.instance : undefined)));
    leaving.delete(undefined);
    for (const backend of streams) {
      const stream = this.#streams.get(backend);
      const isLeaving = backend.leaving || leaving.has(backend.instance);
      const draining = isLeaving || (stream !== undefined && this.#ledger.drains(stream));
      if (draining === this.#registry.stateOf(backend)?.draining) continue;
      if (draining) this.#registry.markDraining(backend);
      else this.#registry.clearDraining(backend);
    }
  }

  /** Since when every stream of this agent says that it shuts down; undefined when one does not, or none is left. */
  leavingSinceUnixMs(agentId: string): number | undefined {
    let since: number | undefined;
    for (const { leavingSinceUnixMs } of this.#registry.streamsOf(agentId)) {
      if (leavingSinceUnixMs === undefined) return undefined;
      since = Math.min(since ?? leavingSinceUnixMs, leavingSinceUnixMs);
    }
    return since;
  }

  /** Streams of a Go agent that sent DRAIN. */
  saidDrain(agentId: string): Backend[] {
    return this.#registry.streamsOf(agentId).filter((backend) => !backend.ours && backend.leaving);
  }
}
