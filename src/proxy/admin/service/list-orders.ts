import type { DrainOrder } from '../../server/drain/drain-command.ts';
import type { AdminMethods } from '../messages/message-types.ts';
import { readToken, tokenOf } from './page-token.ts';
import { pageSize } from './requests.ts';
import { shownOrder } from './shown-order.ts';

const MOST_ORDERS = 1_000;

/** A page of orders in the order of their agents' IDs, one for an agent. @throws Fault `admin-bad-request` */
export function listOrders(
  orders: readonly DrainOrder[],
  request: AdminMethods['ListOrders']['request'],
): AdminMethods['ListOrders']['response'] {
  const size = pageSize(request.pageSize ?? 0, MOST_ORDERS, MOST_ORDERS);
  const after = readToken(request.pageToken ?? '');
  const rest = orders
    .filter(({ agentId }) => agentId > after)
    .sort((a, b) => (a.agentId < b.agentId ? -1 : 1));
  const page = rest.slice(0, size);
  const last = page.at(-1);
  return {
    orders: page.map(shownOrder),
    nextPageToken: last === undefined || page.length === rest.length ? '' : tokenOf(last.agentId),
  };
}
