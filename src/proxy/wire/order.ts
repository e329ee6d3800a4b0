/** Drain orders as they travel between a server and an agent (docs/EXTENSIONS.md, Orders). */

/** An ID is 1 to this many characters of A-Z, a-z, 0-9, `_` and `-`. */
export const MOST_ORDER_ID_CHARS = 64;
/** Reason and actor are cut at this many bytes of UTF-8 when they are sent. */
export const MOST_ORDER_TEXT_BYTES = 1024;
/** IDs of ended orders in one packet. */
export const MOST_ENDED_ORDERS = 64;

/** One order. Its version grows with each update of the same ID. */
export interface WireOrder {
  readonly id: string;
  /** 1 or more. */
  readonly version: number;
  readonly actor: string;
  /** The actor is what a client said of itself. */
  readonly actorClaimed: boolean;
  readonly reason: string;
  /** For people only: no clocks are compared. */
  readonly sinceUnixMs: number;
  /** What remains until the deadline in the moment of sending; 0 = passed, -1 = none is set. */
  readonly deadlineInMs: number;
  /** At the deadline servers close the tunnels that are left. */
  readonly close: boolean;
  /** The order ends with the instance that it was placed for. */
  readonly untilRestart: boolean;
}

/** ORDER, from a server: what ends, and then what is placed or updated. */
export interface OrderChange {
  order: WireOrder | null;
  /** IDs of orders that ended. */
  ended: string[];
  /** Who ended them. */
  endedBy: string;
  endedByClaimed: boolean;
}

/** Whether a text can be the ID of an order; others may not be sent. */
export function isOrderId(text: string): boolean {
  return text.length <= MOST_ORDER_ID_CHARS && /^[A-Za-z0-9_-]+$/.test(text);
}

/** A change that changes nothing yet. */
export function blankOrderChange(): OrderChange {
  return { order: null, ended: [], endedBy: '', endedByClaimed: false };
}
