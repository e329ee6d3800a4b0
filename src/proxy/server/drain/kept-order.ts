import type { Deadline, Order } from './order.ts';
import type { KeptOrder } from './order-file.ts';

/** An order for the state directory. */
export function keptOrder(order: Order, goneSinceUnixMs: number | undefined): KeptOrder {
  const { deadline, instance, ...rest } = order;
  return {
    ...rest,
    ...(deadline === undefined ? {} : { deadlineUnixMs: deadline.unixMs }),
    ...(instance === undefined ? {} : { instance }),
    ...(goneSinceUnixMs === undefined ? {} : { goneSinceUnixMs }),
  };
}

/** The order again: by the wall clock, the only one that went on while this server was down. */
export function restoredOrder(kept: KeptOrder, now: Deadline): Order {
  const { deadlineUnixMs, instance, goneSinceUnixMs: _, ...rest } = kept;
  const deadline =
    deadlineUnixMs === undefined
      ? undefined
      : { unixMs: deadlineUnixMs, monoMs: now.monoMs + (deadlineUnixMs - now.unixMs) };
  return { ...rest, deadline, instance };
}
