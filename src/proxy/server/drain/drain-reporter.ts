import type { Fields, Log } from '../../ops/log.ts';
import { RepeatedLine } from '../../ops/repeated-line.ts';
import {
  actorText,
  type DrainEvent,
  type DrainEventType,
  endText,
  orderActor,
  orderText,
} from './drain-words.ts';
import type { Actor, Order } from './order.ts';
import { type EndedOrder, inForce, type OrderState } from './order-state.ts';

/** What it is made of. */
export interface DrainReporterOptions {
  readonly log: Log;
  /** Of an agent at this server. */
  tunnels(agentId: string): number;
  onEvent(event: DrainEvent): void;
}

/** Lines about one agent within a minute; the rest is counted. */
const LINES_PRINTED = 20;

/** Says each change of an order once: in the log, and as an event. */
export class DrainReporter {
  readonly #options: DrainReporterOptions;
  /** What agents cause as often as they like. */
  readonly #lines: RepeatedLine;

  constructor(options: DrainReporterOptions) {
    this.#options = options;
    this.#lines = new RepeatedLine(options.log, { burst: LINES_PRINTED });
  }

  /** By an operator of this server. */
  placed(order: Order, change: 'placed' | 'updated'): void {
    const message = `Drain order ${change}`;
    this.#say(0, message, order, {
      version: order.version > 1 ? order.version : undefined,
      ...terms(order),
      tunnels: this.#options.tunnels(order.agentId),
    });
    this.#event(
      `order-${change}`,
      order,
      orderActor(order),
      `drain order ${order.id} ${change}${orderText(order)}`,
    );
  }

  /** A change of state that no operator of this server made. */
  changed(before: OrderState, after: OrderState): void {
    const order = inForce(after);
    if (order === undefined || after.kind === 'stored') return;
    const known = inForce(before);
    if (known?.id === order.id && known.version === order.version) return;
    this.#lines.info(`relayed ${order.agentId}`, 0, 'The agent is under a drain order of another server', {
      agentID: order.agentId,
      order: order.id,
      ...terms(order),
    });
    const text = `under drain order ${order.id} of another server${orderText(order)}`;
    this.#event('order-relayed', order, orderActor(order), text);
  }

  ended({ order, cause }: EndedOrder, by: Actor | undefined): void {
    const why = endText(cause, by);
    const fields = { agentID: order.agentId, order: order.id, why };
    if (by !== undefined) this.#options.log.info(0, 'Drain order ended', fields);
    else this.#lines.info(`ended ${order.agentId}`, 0, 'Drain order ended', fields);
    // By whom is said beside it.
    this.#event('order-ended', order, by, `drain order ${order.id} ended: ${endText(cause, undefined)}`);
  }

  /** @param closed how many tunnels were closed for it */
  overdue(order: Order, closed: number): void {
    const left = this.#options.tunnels(order.agentId);
    this.#say(0, 'The deadline of a drain order passed', order, {
      atDeadline: order.atDeadline,
      closedTunnels: closed,
      tunnels: left,
    });
    const tunnels = (count: number): string => (count === 1 ? '1 tunnel' : `${count} tunnels`);
    const text =
      order.atDeadline === 'close' ? `${tunnels(closed)} closed` : `${tunnels(left)} left to run on`;
    this.#event('order-overdue', order, undefined, `the deadline of drain order ${order.id} passed: ${text}`);
  }

  /** A Go agent's own DRAIN is no longer heeded. */
  cleared(agentId: string, by: Actor): void {
    this.#options.log.info(0, 'Go agent is taken for ready again, though it said that it drains', {
      agentID: agentId,
      actor: actorText(by),
    });
    const message = `${agentId}: taken for ready again, though it said that it drains`;
    this.#options.onEvent({ type: 'drain-cleared', agent: agentId, actor: actorText(by), message });
  }

  #say(verbosity: number, message: string, order: Order, fields: Fields): void {
    this.#options.log.info(verbosity, message, { agentID: order.agentId, order: order.id, ...fields });
  }

  #event(type: DrainEventType, order: Order, actor: Actor | undefined, message: string): void {
    this.#options.onEvent({
      type,
      agent: order.agentId,
      orderId: order.id,
      message: `${order.agentId}: ${message}`,
      ...(actor === undefined ? {} : { actor: actorText(actor) }),
    });
  }
}

function terms(order: Order): Fields {
  return {
    actor: actorText(orderActor(order)),
    reason: order.reason || undefined,
    deadline: order.deadline === undefined ? undefined : new Date(order.deadline.unixMs).toISOString(),
    atDeadline: order.deadline === undefined ? undefined : order.atDeadline,
    until: order.until === 'restart' ? 'restart' : undefined,
  };
}
