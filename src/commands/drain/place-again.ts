import type { AdminClient } from '../../proxy/admin/client/admin-client.ts';
import type { DrainRequest, Order } from '../../proxy/admin/model/order.ts';
import type { WatchedServer } from '../agents-watch.ts';
import { askOne } from '../ask-all.ts';
import type { Operator } from '../operator.ts';

/** Servers that have to be told an order, because they were restarted, or could not be reached before. */
export class PlaceAgain {
  readonly #operator: Operator;
  readonly #untold = new Map<AdminClient, { readonly name: string; readonly ids: Set<string> }>();
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(operator: Operator) {
    this.#operator = operator;
  }

  /** @param name of the server, for what is said once it is done */
  add(client: AdminClient, ids: readonly string[], name: string): void {
    this.#untold.set(client, { name, ids: new Set(ids) });
  }

  untold(agentId: string): boolean {
    return [...this.#untold.values()].some(({ ids }) => ids.has(agentId));
  }

  /**
   * Tells those that answer now.
   * @param orders in force, by agent ID
   * @returns the agents of which an order was placed
   * @throws the signal's reason
   */
  async tell(
    servers: readonly WatchedServer[],
    orders: ReadonlyMap<string, Order>,
  ): Promise<ReadonlySet<string>> {
    const { clock, times } = this.#operator;
    const told = new Set<string>();
    if (clock.monoMs() - this.#lastMs < times.retryMs) return told;
    for (const [client, { name, ids }] of this.#untold) {
      const server = servers.find((one) => one.client === client);
      if (server === undefined || !server.answers) continue;
      this.#lastMs = clock.monoMs();
      for (const id of ids) {
        const order = orders.get(id);
        const outcome = order === undefined ? 'settled' : await this.#tellOne(server, order, name);
        if (outcome !== 'later') ids.delete(id);
        if (outcome === 'placed') told.add(id);
      }
      if (ids.size === 0) this.#untold.delete(client);
    }
    return told;
  }

  async #tellOne(server: WatchedServer, order: Order, name: string): Promise<'placed' | 'settled' | 'later'> {
    const seen = server.agents.get(order.agentId);
    // A server refuses orders for agents that it does not know, and notes each refusal: the agent has to come first.
    if (seen === undefined) return 'later';
    if (seen.order !== undefined && seen.order.id === order.id && !seen.order.relayed) return 'settled';
    // An agent of ours that is there and drains for nobody was undrained elsewhere meanwhile.
    if (
      seen.kind === 'ts' &&
      seen.state === 'ready' &&
      seen.streams.every(({ state }) => state === 'ready')
    ) {
      return 'settled';
    }
    // One that came with its agent is stored as it is.
    const request = seen.order === undefined ? requestOf(order, this.#operator.clock.wallMs()) : {};
    const answer = await askOne(this.#operator, server.client, (client, signal) =>
      client.drain(
        { ...request, agentIds: [order.agentId], orderIds: { [order.agentId]: order.id }, force: true },
        signal,
      ),
    );
    if (answer.fault === undefined) {
      this.#operator.say(`${name}: order ${order.id} of ${order.agentId} was placed there`);
      return 'placed';
    }
    // The agent is gone from that server again, or the server is.
    if (answer.fault.code === 'admin-not-found' || answer.fault.code === 'admin-unreachable') return 'later';
    this.#operator.say(
      `konnectivity-ts: ${name} does not take the order of ${order.agentId}: ${answer.fault.line}`,
    );
    return 'settled';
  }
}

function requestOf(order: Order, nowMs: number): Partial<DrainRequest> {
  const { reason, deadline, atDeadline, until } = order;
  const leftSeconds = deadline === undefined ? undefined : Math.max(1, (deadline.getTime() - nowMs) / 1_000);
  return {
    reason,
    atDeadline,
    until,
    ...(leftSeconds === undefined ? {} : { deadlineSeconds: leftSeconds }),
  };
}
