import {
  MalformedPacketError,
  pos,
  readConnectId,
  readInt32,
  readLength,
  readString,
  readTag,
  skip,
} from './cursor.ts';
import {
  isOrderId,
  MOST_ENDED_ORDERS,
  MOST_ORDER_ID_CHARS,
  MOST_ORDER_TEXT_BYTES,
  type OrderChange,
  type WireOrder,
} from './order.ts';
import type { Status } from './packet.ts';

/** A status names the servers of one agent: more than this many is not a fleet but an attack. */
const MAX_SERVER_IDS = 1000;
const MAX_SERVER_ID_BYTES = 1024;
/** The last instant that a Date can hold. */
const LAST_UNIX_MS = 8.64e15;

/** Reads one field of Status. */
export function readStatusField(status: Status, tag: number, end: number): void {
  if (tag === 8) status.leaving = readInt32(end) !== 0;
  else if (tag === 16) status.tunnels = readConnectId(end);
  else if (tag === 24) status.pendingDials = readConnectId(end);
  else if (tag === 34) readServerId(status.serverIds, end);
  else if (tag === 40) status.replacements = readConnectId(end);
  else if (tag === 48) status.orderNumber = Math.max(0, readConnectId(end));
  else if (tag === 58) status.order = readOrder(readLength(end));
  else if (tag === 66) readEndedId(status.endedOrders, end);
  else if (tag === 74) readServerId(status.stillDraining, end);
  else skip(tag, end, 0);
}

/** Reads one field of OrderChange. */
export function readOrderChangeField(change: OrderChange, tag: number, end: number): void {
  if (tag === 10) change.order = readOrder(readLength(end));
  else if (tag === 18) readEndedId(change.ended, end);
  else if (tag === 26) change.endedBy = readText(end);
  else if (tag === 32) change.endedByClaimed = readInt32(end) !== 0;
  else skip(tag, end, 0);
}

function readServerId(into: string[], end: number): void {
  if (into.length >= MAX_SERVER_IDS) throw new MalformedPacketError('too many server IDs');
  into.push(readString(end, MAX_SERVER_ID_BYTES));
}

function readEndedId(into: string[], end: number): void {
  if (into.length >= MOST_ENDED_ORDERS) throw new MalformedPacketError('too many ended orders');
  into.push(readOrderId(end));
}

function readOrder(end: number): WireOrder {
  let id = '';
  let version = 0;
  let actor = '';
  let actorClaimed = false;
  let reason = '';
  let sinceUnixMs = 0;
  let deadlineInMs = -1;
  let close = false;
  let untilRestart = false;
  while (pos < end) {
    const tag = readTag(end);
    if (tag === 10) id = readOrderId(end);
    else if (tag === 16) version = readConnectId(end);
    else if (tag === 26) actor = readText(end);
    else if (tag === 32) actorClaimed = readInt32(end) !== 0;
    else if (tag === 42) reason = readText(end);
    else if (tag === 48) sinceUnixMs = readUnixMs(end);
    else if (tag === 56) deadlineInMs = readConnectId(end);
    else if (tag === 64) close = readInt32(end) !== 0;
    else if (tag === 72) untilRestart = readInt32(end) !== 0;
    else skip(tag, end, 0);
  }
  if (id === '' || version < 1) throw new MalformedPacketError('an order without ID or version');
  return { id, version, actor, actorClaimed, reason, sinceUnixMs, deadlineInMs, close, untilRestart };
}

function readOrderId(end: number): string {
  const id = readString(end, MOST_ORDER_ID_CHARS);
  if (!isOrderId(id)) throw new MalformedPacketError('not the ID of an order');
  return id;
}

function readText(end: number): string {
  return readString(end, MOST_ORDER_TEXT_BYTES);
}

/** A time that no Date can hold is none. */
function readUnixMs(end: number): number {
  const ms = readConnectId(end);
  return ms >= 0 && ms <= LAST_UNIX_MS ? ms : 0;
}
