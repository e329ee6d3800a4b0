import { MOST_ENDED_ORDERS, type OrderChange, type WireOrder } from '../wire/order.ts';

/** An order as the agent holds it: its deadline on the agent's own monotonic clock. */
export interface HeldOrder extends Omit<WireOrder, 'deadlineInMs'> {
  readonly deadlineAtMs: number | undefined;
}

/** What an agent knows of its orders (docs/EXTENSIONS.md, Orders). */
export interface StandingOrder {
  /** Changes so far. */
  readonly number: number;
  /** The one in force. */
  readonly order: HeldOrder | undefined;
  /** IDs of orders that ended, the newest last. */
  readonly ended: readonly string[];
}

export const noOrder: StandingOrder = { number: 0, order: undefined, ended: [] };

/** What became of one part of a change; for logs. What changed nothing and is no news is left out. */
export type OrderEvent =
  | { readonly kind: 'accepted'; readonly order: HeldOrder }
  | { readonly kind: 'updated'; readonly order: HeldOrder; readonly before: HeldOrder }
  | { readonly kind: 'ended'; readonly order: HeldOrder; readonly by: string; readonly claimed: boolean }
  /** It was not in force here, and now never can be. */
  | { readonly kind: 'forestalled'; readonly id: string }
  | { readonly kind: 'refused'; readonly order: HeldOrder; readonly why: 'another-in-force' | 'ended' };

export interface Decision {
  readonly standing: StandingOrder;
  readonly events: readonly OrderEvent[];
}

/**
 * The arbiter: servers send orders, and the agent decides which one holds, so that all servers see the same. The first
 * order wins until it ends; an end always wins. Pure.
 * @param nowMs on the clock of `deadlineAtMs`
 */
export function decide(standing: StandingOrder, change: OrderChange, nowMs: number): Decision {
  const events: OrderEvent[] = [];
  let { order } = standing;
  const ended = [...standing.ended];
  for (const id of change.ended) {
    if (ended.includes(id)) continue;
    ended.push(id);
    if (order?.id === id) {
      events.push({ kind: 'ended', order, by: change.endedBy, claimed: change.endedByClaimed });
      order = undefined;
    } else events.push({ kind: 'forestalled', id });
  }
  let changed = events.length > 0;
  if (change.order !== null) {
    const offered = hold(change.order, nowMs);
    if (ended.includes(offered.id)) events.push({ kind: 'refused', order: offered, why: 'ended' });
    else if (order === undefined) {
      events.push({ kind: 'accepted', order: offered });
      order = offered;
      changed = true;
    } else if (order.id !== offered.id) {
      events.push({ kind: 'refused', order: offered, why: 'another-in-force' });
    } else if (offered.version > order.version) {
      events.push({ kind: 'updated', order: offered, before: order });
      order = offered;
      changed = true;
    }
  }
  if (!changed) return { standing, events };
  return { standing: { number: standing.number + 1, order, ended: ended.slice(-MOST_ENDED_ORDERS) }, events };
}

/** The order as it is sent on: with the time that remains now, in whole milliseconds. */
export function onTheWire(order: HeldOrder, nowMs: number): WireOrder {
  const { deadlineAtMs, ...rest } = order;
  return {
    ...rest,
    deadlineInMs: deadlineAtMs === undefined ? -1 : Math.max(0, Math.ceil(deadlineAtMs - nowMs)),
  };
}

function hold(order: WireOrder, nowMs: number): HeldOrder {
  const { deadlineInMs, ...rest } = order;
  return { ...rest, deadlineAtMs: deadlineInMs < 0 ? undefined : nowMs + deadlineInMs };
}
