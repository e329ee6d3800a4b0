import type { DrainOrder } from '../../server/drain/drain-command.ts';
import type { Order } from '../model/order.ts';

/** An order of the server as the API has it. */
export function shownOrder(order: DrainOrder): Order {
  const { sinceUnixMs, deadlineUnixMs, ...rest } = order;
  return {
    ...rest,
    since: new Date(sinceUnixMs),
    ...(deadlineUnixMs === undefined ? {} : { deadline: new Date(deadlineUnixMs) }),
  };
}
