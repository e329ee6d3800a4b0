import { randomBytes } from 'node:crypto';
import type { AdminClient } from '../../proxy/admin/client/admin-client.ts';
import type { Agent, DrainResult } from '../../proxy/admin/model/agent.ts';
import type { DrainRequest } from '../../proxy/admin/model/order.ts';
import type { Fault } from '../../proxy/ops/fault.ts';
import { type Answer, askOne } from '../ask-all.ts';
import type { Operator } from '../operator.ts';
import type { DrainPlan } from './drain-flags.ts';

/** A server, and those of the agents that it knows. */
export interface Place {
  readonly client: AdminClient;
  readonly serverId: string;
  readonly agentIds: readonly string[];
}

export interface Placed {
  readonly results: readonly { readonly place: Place; readonly result: DrainResult }[];
  readonly failed: readonly { readonly place: Place; readonly fault: Fault }[];
}

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** The same order ID for all servers: that of an order in force, or a new one. */
export function orderIds(agents: readonly Agent[]): Record<string, string> {
  return Object.fromEntries(agents.map(({ id, order }) => [id, order?.id ?? newOrderId()]));
}

function newOrderId(): string {
  return [...randomBytes(10)].map((byte) => BASE32[byte % 32]).join('');
}

/** The request of a plan, without its agents. */
export function drainRequest(plan: DrainPlan, ids: Record<string, string>): Omit<DrainRequest, 'agentIds'> {
  return {
    ...(plan.reason === undefined ? {} : { reason: plan.reason }),
    ...(plan.deadlineMs === undefined ? {} : { deadlineSeconds: plan.deadlineMs / 1_000 }),
    ...(plan.atDeadline === undefined ? {} : { atDeadline: plan.atDeadline }),
    ...(plan.until === undefined ? {} : { until: plan.until }),
    ...(plan.force ? { force: true } : {}),
    orderIds: ids,
  };
}

/** Sends the request to each server at once, with the agents that it knows. @throws the signal's reason */
export async function sendDrain(
  operator: Operator,
  places: readonly Place[],
  request: Omit<DrainRequest, 'agentIds'>,
): Promise<Placed> {
  const answers = await Promise.all(
    places.map(async (place): Promise<[Place, Answer<readonly DrainResult[]>]> => {
      const { agentIds } = place;
      const ids = Object.fromEntries(
        Object.entries(request.orderIds ?? {}).filter(([id]) => agentIds.includes(id)),
      );
      return [
        place,
        await askOne(operator, place.client, (client, signal) =>
          client.drain({ ...request, agentIds, orderIds: ids }, signal),
        ),
      ];
    }),
  );
  return {
    results: answers.flatMap(([place, answer]) =>
      answer.fault === undefined ? answer.value.map((result) => ({ place, result })) : [],
    ),
    failed: answers.flatMap(([place, { fault }]) => (fault === undefined ? [] : [{ place, fault }])),
  };
}

/**
 * The second phase. Everybody asks the server with the least ID first, and the others only when it did not refuse: of
 * two operators who drain the last two ready agents over the same servers at once, one is refused there, with nothing
 * changed. @throws the signal's reason
 */
export async function placeOrders(
  operator: Operator,
  places: readonly Place[],
  request: Omit<DrainRequest, 'agentIds'>,
): Promise<Placed> {
  const ordered = [...places].sort((a, b) => (a.serverId < b.serverId ? -1 : 1));
  const first = await sendDrain(operator, ordered.slice(0, 1), request);
  if (first.failed.some(({ fault }) => fault.code !== 'admin-unreachable')) return first;
  const others = await sendDrain(operator, ordered.slice(1), request);
  return {
    results: [...first.results, ...others.results],
    failed: [...first.failed, ...others.failed],
  };
}
