import type { Clock } from '../../ops/clock.ts';
import { MOST_ENDED_ORDERS, type WireOrder } from '../../wire/order.ts';
import type { Status } from '../../wire/packet.ts';
import { endOrders, placeOrder } from '../../wire/packets.ts';
import type { Backend } from '../backend.ts';
import type { Actor, Order } from './order.ts';
import type { OrderStream, OrderWord } from './order-ledger.ts';

/** What an agent says beyond is no sensible order: a date must be able to hold the deadline, a number the version. */
const MOST_DEADLINE_MS = 10 * 366 * 86_400_000;
const MOST_VERSION = 1_000_000_000;

/** Orders on the stream of a backend: between what is kept here and what travels. */
export class BackendOrders implements OrderStream {
  readonly #backend: Backend;
  readonly #clock: Clock;

  constructor(backend: Backend, clock: Clock) {
    this.#backend = backend;
    this.#clock = clock;
  }

  get agentId(): string {
    return this.#backend.agentId;
  }

  get instance(): string | undefined {
    return this.#backend.instance;
  }

  get takesOrders(): boolean {
    return this.#backend.features.has('order') && this.#backend.instance !== undefined;
  }

  sendOrder(order: Order): void {
    const { id, version, actor, actorClaimed, reason, sinceUnixMs, deadline } = order;
    this.#backend.answer(
      placeOrder({
        id,
        version,
        actor,
        actorClaimed,
        reason,
        sinceUnixMs,
        deadlineInMs: deadline === undefined ? -1 : Math.max(0, deadline.monoMs - this.#clock.monoMs()),
        close: order.atDeadline === 'close',
        untilRestart: order.until === 'restart',
      }),
    );
  }

  sendEnds(ids: readonly string[], by: Actor): void {
    for (let from = 0; from < ids.length; from += MOST_ENDED_ORDERS) {
      this.#backend.answer(endOrders(ids.slice(from, from + MOST_ENDED_ORDERS), by.name, by.claimed));
    }
  }

  /** What a STATUS says of orders; undefined when its agent says nothing of them. */
  wordOf(status: Status): OrderWord | undefined {
    if (!this.takesOrders) return undefined;
    const { order: said } = status;
    const order = said === null || said.version > MOST_VERSION ? undefined : this.#received(said);
    return { number: status.orderNumber, order, ended: status.endedOrders };
  }

  #received(wire: WireOrder): Order {
    const { id, version, actor, actorClaimed, reason, sinceUnixMs } = wire;
    const inMs = Math.min(wire.deadlineInMs, MOST_DEADLINE_MS);
    const deadline =
      inMs < 0 ? undefined : { monoMs: this.#clock.monoMs() + inMs, unixMs: this.#clock.wallMs() + inMs };
    return {
      id,
      agentId: this.agentId,
      version,
      actor,
      actorClaimed,
      reason,
      sinceUnixMs,
      deadline,
      atDeadline: wire.close ? 'close' : 'keep',
      until: wire.untilRestart ? 'restart' : 'undrain',
      instance: wire.untilRestart ? this.instance : undefined,
      overdue: false,
    };
  }
}
