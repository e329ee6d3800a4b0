import type { Clock } from '../../ops/clock.ts';
import type { Log } from '../../ops/log.ts';
import type { Backend } from '../backend.ts';
import type { StreamRegistry } from '../selection/stream-registry.ts';
import type { AgentSightings } from './agent-sightings.ts';
import type { DrainBounds } from './drain-bounds.ts';
import type { DrainEvent } from './drain-words.ts';
import { GoneAgents } from './gone-agents.ts';
import { keptOrder, restoredOrder } from './kept-order.ts';
import type { Order } from './order.ts';
import type { KeptOrder, KeptOrders } from './order-file.ts';
import { OrderKeeper } from './order-keeper.ts';
import type { OrderLedger } from './order-ledger.ts';
import { type OrderState, placedHere } from './order-state.ts';
import type { Disk } from './state-file.ts';

/** What it is made of. */
export interface StoredOrdersOptions {
  readonly ledger: OrderLedger;
  readonly registry: StreamRegistry<Backend>;
  readonly sightings: AgentSightings;
  readonly clock: Clock;
  readonly log: Log;
  readonly bounds: Pick<DrainBounds, 'writePauseMs' | 'writeRetryMs' | 'durableMs'>;
  /** --state-dir; empty or undefined: orders live as long as this process. */
  readonly directory: string | undefined;
  readonly disk: Disk | undefined;
  onEvent(event: DrainEvent): void;
}

/** The orders that were placed at this server: how many, whether their agents are gone, and their copy on disk. */
export class StoredOrders {
  readonly #options: StoredOrdersOptions;
  readonly #gone: GoneAgents;
  readonly #keeper: OrderKeeper | undefined;
  #count = 0;

  constructor(options: StoredOrdersOptions) {
    this.#options = options;
    this.#gone = new GoneAgents(options.clock);
    this.#keeper = makeKeeper(options);
  }

  get count(): number {
    return this.#count;
  }

  /** Whether they survive a restart of this server. */
  get kept(): boolean {
    return this.#keeper !== undefined;
  }

  /**
   * Takes the kept ones back into the ledger.
   * @returns them
   * @throws Fault `state-directory`
   */
  async open(): Promise<Order[]> {
    if (this.#keeper === undefined) return [];
    const { ledger, clock } = this.#options;
    const kept = await this.#keeper.open();
    // While this server was down only the wall clock went on.
    for (const ended of kept.ended) {
      const agoMs = Math.max(0, clock.wallMs() - ended.atUnixMs);
      ledger.ended.add(ended, clock.monoMs() - agoMs);
    }
    const orders = kept.orders.map((one) => {
      const order = restoredOrder(one, { monoMs: clock.monoMs(), unixMs: clock.wallMs() });
      ledger.restore(order);
      this.#count++;
      // An agent that was connected when this server stopped is gone since now.
      this.#gone.gone(order.agentId, one.goneSinceUnixMs);
      return order;
    });
    this.#keeper.keep(() => this.#everything());
    return orders;
  }

  /** What is to be kept changed. */
  changed(): void {
    this.#keeper?.changed();
  }

  /** The order of an agent changed, maybe one that was placed here. */
  moved(agentId: string, before: OrderState, after: OrderState): void {
    const [was, is] = [placedHere(before), placedHere(after)];
    this.#count += Number(is !== undefined) - Number(was !== undefined);
    if (is === undefined) this.#gone.back(agentId);
    else if (was === undefined) this.noteIfGone(agentId);
    if (was !== is) this.changed();
  }

  /** An agent has a stream again. */
  agentBack(agentId: string): void {
    if (this.#gone.back(agentId)) this.changed();
  }

  /** The order of an agent that is gone waits for it, but not for ever. */
  noteIfGone(agentId: string): void {
    const { ledger, registry, sightings } = this.#options;
    if (placedHere(ledger.stateOf(agentId)) === undefined) return;
    if (registry.streamsOf(agentId).length > 0) return;
    this.#gone.gone(agentId, sightings.of(agentId)?.goneSinceUnixMs);
    this.changed();
  }

  /** Agents with an order that are gone for that long. */
  goneFor(ms: number): string[] {
    return this.#gone.longerThan(ms);
  }

  /**
   * Resolves when all so far is on disk, or could not be written, or waits for the disk for too long: then with words
   * for the operator. Never rejects.
   */
  async durable(): Promise<string | undefined> {
    if (this.#keeper === undefined) return undefined;
    const { clock, bounds } = this.#options;
    const late = new AbortController();
    const slow = clock
      .wait(bounds.durableMs, late.signal)
      .then(() => 'not in the state directory yet: its disk is slow, and a restart now would lose it');
    const note = await Promise.race([this.#keeper.durable(), slow]);
    late.abort();
    return note;
  }

  /** Writes what is left. */
  async close(): Promise<void> {
    await this.#keeper?.close();
  }

  #everything(): KeptOrders {
    const { ledger } = this.#options;
    const orders: KeptOrder[] = [];
    for (const [agentId, state] of ledger.states()) {
      const order = placedHere(state);
      if (order !== undefined) orders.push(keptOrder(order, this.#gone.sinceUnixMs(agentId)));
    }
    return { orders, ended: ledger.ended.kept() };
  }
}

function makeKeeper(options: StoredOrdersOptions): OrderKeeper | undefined {
  const { directory, disk, log, clock, bounds } = options;
  if (directory === undefined || directory === '') return undefined;
  return new OrderKeeper({
    directory,
    log,
    clock,
    pauseMs: bounds.writePauseMs,
    retryMs: bounds.writeRetryMs,
    ...(disk === undefined ? {} : { disk }),
    onEvent: (event) => options.onEvent(event),
  });
}
