import type { Fields, Log } from '../ops/log.ts';
import { RepeatedLine } from '../ops/repeated-line.ts';
import type { OrderChange, WireOrder } from '../wire/order.ts';
import type { Status } from '../wire/packet.ts';
import { decide, type HeldOrder, noOrder, type OrderEvent, onTheWire } from './standing-order.ts';

/** Lines about orders within a minute; the rest is counted. */
const LINES_PRINTED = 20;

/** Holds the agent's drain order for the life of the process, whatever becomes of its streams, and logs its changes. */
export class OrderKeeper {
  readonly #now: () => number;
  readonly #lines: RepeatedLine;
  #standing = noOrder;

  constructor(log: Log, now: () => number = () => performance.now()) {
    this.#lines = new RepeatedLine(log, { burst: LINES_PRINTED });
    this.#now = now;
  }

  get inForce(): boolean {
    return this.#standing.order !== undefined;
  }

  /** The order in force, with the time that remains until its deadline now. */
  get order(): WireOrder | null {
    const { order } = this.#standing;
    return order === undefined ? null : onTheWire(order, this.#now());
  }

  /** What STATUS says of orders. */
  get status(): Pick<Status, 'orderNumber' | 'order' | 'endedOrders'> {
    const { number, ended } = this.#standing;
    return { orderNumber: number, order: this.order, endedOrders: [...ended] };
  }

  /**
   * ORDER from a server.
   * @returns whether it changed anything
   */
  apply(change: OrderChange, serverId: string): boolean {
    const { standing, events } = decide(this.#standing, change, this.#now());
    for (const event of events) this.#log(event, serverId);
    if (standing === this.#standing) return false;
    this.#standing = standing;
    return true;
  }

  #log(event: OrderEvent, serverID: string): void {
    const print = (message: string, fields: Fields, verbosity = 1): void =>
      this.#lines.info(event.kind, verbosity, message, { ...fields, serverID });
    switch (event.kind) {
      case 'accepted':
        print('Drain order accepted: new dials go to other agents while there are any', said(event.order));
        return;
      case 'updated':
        print('Drain order updated', said(event.order));
        return;
      case 'ended': {
        const { id, actor, reason } = event.order;
        print('Drain order ended', {
          orderID: id,
          actor: event.by,
          actorClaimed: event.claimed,
          placedBy: actor,
          reason,
        });
        return;
      }
      case 'forestalled':
        print('Drain order ended before it was in force', { orderID: event.id }, 3);
        return;
      case 'refused':
        print('Drain order not taken', { ...said(event.order), why: event.why }, 3);
        return;
      default: {
        const never: never = event;
        throw new TypeError(String(never));
      }
    }
  }
}

function said(order: HeldOrder): Fields {
  const { id, version, actor, actorClaimed, reason, untilRestart } = order;
  return { orderID: id, version, actor, actorClaimed, reason, until: untilRestart ? 'restart' : 'undrain' };
}
