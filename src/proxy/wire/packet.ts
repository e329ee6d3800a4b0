import type { OrderChange, WireOrder } from './order.ts';

/**
 * The Packet of the Konnectivity protocol (proto/tunnel.proto), flattened: one object shape for every type, so
 * that the packet loops stay monomorphic. Fields that a type does not use hold their zero value.
 */

/** Numeric packet types. 0 to 6 are upstream's; from 1000 on ours, sent only to a peer that announced them. */
export const PacketType = {
  DIAL_REQ: 0,
  DIAL_RSP: 1,
  CLOSE_REQ: 2,
  CLOSE_RSP: 3,
  DATA: 4,
  DIAL_CLS: 5,
  DRAIN: 6,
  WINDOW: 1000,
  HALF_CLOSE: 1001,
  ORDER: 1002,
  STATUS: 1003,
  PING: 1004,
  PONG: 1005,
} as const;

/** Bytes of the gRPC message prefix (compressed flag and big-endian length) that precede every packet. */
export const FRAME_HEADER_BYTES = 5;

/** What a decoder yields for an int64 connectID that no peer can have been handed (negative or beyond 2^53). */
export const NO_CONNECT_ID = -1;

export interface Packet {
  /** A PacketType, or a number this version does not know (receivers ignore those). */
  type: number;
  /** DIAL_REQ: `tcp`. */
  protocol: string;
  /** DIAL_REQ: `host:port`. */
  address: string;
  /** DIAL_REQ, DIAL_RSP, DIAL_CLS: the dial ID (`random` on the wire), a full int64. */
  dialId: bigint;
  /** DIAL_RSP, CLOSE_REQ, CLOSE_RSP, DATA, WINDOW, HALF_CLOSE. */
  connectId: number;
  /** DIAL_RSP, CLOSE_RSP, DATA. */
  error: string;
  /** DATA: the payload, a view into the received message. */
  data: Buffer;
  /** WINDOW: bytes granted. PING, PONG: the opaque number. CLOSE_REQ: 1 when the client's end was abnormal. */
  amount: number;
  /** STATUS: its message. */
  status: Status | null;
  /** ORDER: its message. */
  order: OrderChange | null;
  /**
   * The whole received gRPC frame (prefix and message), so that a packet can be passed on without being encoded
   * again. Empty on packets that were made here.
   */
  frame: Buffer;
}

/** STATUS (docs/EXTENSIONS.md). A server fills in `replacements` alone. */
export interface Status {
  /** True when the agent takes no new dials by choice: told by a signal. */
  leaving: boolean;
  /** Established tunnels over all the agent's streams. */
  tunnels: number;
  /** Dials not yet answered over all the agent's streams. */
  pendingDials: number;
  /** IDs of the servers the agent has a stream to. */
  serverIds: string[];
  /**
   * From a server: ready agents of it that could replace this one for everything it serves. From an agent that drains:
   * the least that its servers say. -1 when not said.
   */
  replacements: number;
  /** With `order`: how many changes of its orders this instance has made. The highest of an instance is the latest. */
  orderNumber: number;
  /** With `order`: the order in force. */
  order: WireOrder | null;
  /** With `order`: IDs of orders that ended in this instance's life, the newest last. */
  endedOrders: string[];
  /** With `order`: servers that cannot be told of an undrain, and take the agent for draining until it connects anew. */
  stillDraining: string[];
}

/** A status that says nothing; whoever sends one fills in what it knows. */
export function blankStatus(): Status {
  return {
    leaving: false,
    tunnels: 0,
    pendingDials: 0,
    serverIds: [],
    replacements: -1,
    orderNumber: 0,
    order: null,
    endedOrders: [],
    stillDraining: [],
  };
}
