import type { Actor, Order } from './order.ts';
import type { EndCause } from './order-state.ts';

/** Something that happened to an order, for the event log. */
export interface DrainEvent {
  readonly type: DrainEventType;
  readonly agent?: string;
  readonly actor?: string;
  readonly orderId?: string;
  /** In words. */
  readonly message: string;
}

/**
 * `order-relayed`: known through the agent now, placed at another server. `orders-not-kept`: the state directory
 * cannot be written. `orders-kept`: it can again. `orders-damaged`: its file could not be read and was set aside.
 */
export type DrainEventType =
  | 'order-placed'
  | 'order-updated'
  | 'order-relayed'
  | 'order-ended'
  | 'order-overdue'
  | 'drain-cleared'
  | 'orders-not-kept'
  | 'orders-kept'
  | 'orders-damaged';

/** Who it was, with the doubt that there is. */
export function actorText(actor: Actor): string {
  if (actor.name === '') return 'somebody who did not say who';
  return actor.claimed ? `${actor.name} (claimed)` : actor.name;
}

export function orderActor(order: Order): Actor {
  return { name: order.actor, claimed: order.actorClaimed };
}

/** What an order asks for, in words: ` (kernel patch), deadline 10:41 then close, until restart`. */
export function orderText(order: Order): string {
  const parts = order.reason === '' ? '' : ` (${order.reason})`;
  const deadline =
    order.deadline === undefined
      ? ''
      : `, deadline ${clockText(order.deadline.unixMs)} then ${order.atDeadline}`;
  return `${parts}${deadline}${order.until === 'restart' ? ', until restart' : ''}`;
}

/** Why an order ended, in words. */
export function endText(cause: EndCause, by: Actor | undefined): string {
  switch (cause) {
    case 'undrain':
      return by === undefined ? 'undrained' : `undrained by ${actorText(by)}`;
    case 'elsewhere':
      return 'ended at another server, as the agent says';
    case 'superseded':
      return 'the agent was under another order, which ended';
    case 'restart':
      return 'a new instance of the agent connected';
    case 'expired':
      return 'the agent is gone for too long';
  }
}

/** Hour and minute of this machine's time zone, with the day when it is not today's. */
export function clockText(unixMs: number, nowUnixMs = Date.now()): string {
  const at = new Date(unixMs);
  const two = (value: number): string => String(value).padStart(2, '0');
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`;
  if (at.toDateString() === new Date(nowUnixMs).toDateString()) return time;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}
