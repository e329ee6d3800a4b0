import { isOrderId, MOST_ORDER_ID_CHARS, MOST_ORDER_TEXT_BYTES } from '../../wire/order.ts';
import type { EndedId } from './ended-ids.ts';

/** An order as it is kept: with wall clock times, because no other clock outlives the process. */
export interface KeptOrder {
  readonly id: string;
  readonly agentId: string;
  readonly version: number;
  readonly actor: string;
  readonly actorClaimed: boolean;
  readonly reason: string;
  readonly sinceUnixMs: number;
  readonly deadlineUnixMs?: number;
  readonly atDeadline: 'keep' | 'close';
  readonly until: 'undrain' | 'restart';
  readonly instance?: string;
  readonly overdue: boolean;
  /** When its agent's last stream ended; left out while it is connected. */
  readonly goneSinceUnixMs?: number;
}

/** What the state directory holds. */
export interface KeptOrders {
  readonly orders: readonly KeptOrder[];
  readonly ended: readonly EndedId[];
}

const FORMAT = 1;
/** Orders, and IDs of ended ones, that a server has at most. */
const MOST_KEPT = 10_000;
const MOST_VERSION = 1_000_000_000;
/** Of an agent's ID or instance. */
const MOST_ID_BYTES = 2_048;

export function formatOrders(kept: KeptOrders): string {
  return `${JSON.stringify({ format: FORMAT, ...kept })}\n`;
}

/** @throws Error with what is wrong, when the text is not a whole and valid file of this format */
export function parseOrders(text: string): KeptOrders {
  const file: unknown = JSON.parse(text);
  if (!isObject(file)) throw new Error('no object');
  if (file.format !== FORMAT) throw new Error(`format ${String(file.format)} is not ${FORMAT}`);
  const orders = list(file.orders, 'orders').map(order);
  if (new Set(orders.map(({ agentId }) => agentId)).size < orders.length) {
    throw new Error('an agent has two orders');
  }
  return { orders, ended: list(file.ended, 'ended').map(endedId) };
}

type Fields = Record<string, unknown>;

function order(value: unknown): KeptOrder {
  const fields = object(value, 'an order');
  const optional = {
    deadlineUnixMs: fields.deadlineUnixMs === undefined ? undefined : time(fields, 'deadlineUnixMs'),
    instance: fields.instance === undefined ? undefined : text(fields, 'instance', MOST_ID_BYTES),
    goneSinceUnixMs: fields.goneSinceUnixMs === undefined ? undefined : time(fields, 'goneSinceUnixMs'),
  };
  if (fields.until === 'restart' && optional.instance === undefined) {
    throw new Error('an order until restart without an instance');
  }
  return {
    id: orderId(fields),
    agentId: agentId(fields),
    version: version(fields),
    actor: text(fields, 'actor', MOST_ORDER_TEXT_BYTES),
    actorClaimed: flag(fields, 'actorClaimed'),
    reason: text(fields, 'reason', MOST_ORDER_TEXT_BYTES),
    sinceUnixMs: time(fields, 'sinceUnixMs'),
    atDeadline: oneOf(fields, 'atDeadline', ['keep', 'close']),
    until: oneOf(fields, 'until', ['undrain', 'restart']),
    overdue: flag(fields, 'overdue'),
    ...(optional.deadlineUnixMs === undefined ? {} : { deadlineUnixMs: optional.deadlineUnixMs }),
    ...(optional.instance === undefined ? {} : { instance: optional.instance }),
    ...(optional.goneSinceUnixMs === undefined ? {} : { goneSinceUnixMs: optional.goneSinceUnixMs }),
  };
}

function endedId(value: unknown): EndedId {
  const fields = object(value, 'an ended order');
  return {
    id: orderId(fields),
    agentId: agentId(fields),
    atUnixMs: time(fields, 'atUnixMs'),
    byRestart: flag(fields, 'byRestart'),
  };
}

function list(value: unknown, name: string): unknown[] {
  if (Array.isArray(value) && value.length > MOST_KEPT) throw new Error(`more than ${MOST_KEPT} ${name}`);
  if (Array.isArray(value)) return value;
  throw new Error(`${name} is no list`);
}

function object(value: unknown, name: string): Fields {
  if (isObject(value)) return value;
  throw new Error(`${name} is no object`);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(fields: Fields, name: string, mostBytes: number): string {
  const value = fields[name];
  if (typeof value === 'string' && Buffer.byteLength(value) <= mostBytes) return value;
  throw new Error(`${name} is no text of at most ${mostBytes} bytes`);
}

/** Agents end the stream on which another one comes. */
function orderId(fields: Fields): string {
  const id = text(fields, 'id', MOST_ORDER_ID_CHARS);
  if (isOrderId(id)) return id;
  throw new Error('id is no ID of an order');
}

function agentId(fields: Fields): string {
  const id = text(fields, 'agentId', MOST_ID_BYTES);
  if (id !== '') return id;
  throw new Error('agentId is empty');
}

function version(fields: Fields): number {
  const { version: value } = fields;
  if (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MOST_VERSION) {
    return value as number;
  }
  throw new Error('version is no number that it can be');
}

/** What a Date can hold. */
function time(fields: Fields, name: string): number {
  const value = fields[name];
  if (typeof value === 'number' && value >= 0 && value <= 8.64e15) return value;
  throw new Error(`${name} is no number that it can be`);
}

function flag(fields: Fields, name: string): boolean {
  const value = fields[name];
  if (typeof value === 'boolean') return value;
  throw new Error(`${name} is neither true nor false`);
}

function oneOf<T extends string>(fields: Fields, name: string, choices: readonly T[]): T {
  const value = choices.find((choice) => choice === fields[name]);
  if (value !== undefined) return value;
  throw new Error(`${name} is none of ${choices.join(', ')}`);
}
