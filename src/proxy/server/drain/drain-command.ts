import { Fault } from '../../ops/fault.ts';
import { cut } from '../../ops/safe-text.ts';
import type { Order } from './order.ts';

/** An order as it is shown. */
export interface DrainOrder {
  readonly id: string;
  readonly agentId: string;
  readonly version: number;
  readonly actor: string;
  /** The actor is what the client of a Unix socket says of itself. */
  readonly actorClaimed: boolean;
  readonly reason: string;
  readonly sinceUnixMs: number;
  readonly deadlineUnixMs: number | undefined;
  readonly atDeadline: 'keep' | 'close';
  readonly until: 'undrain' | 'restart';
  /** Placed at another server, known through the agent. */
  readonly relayed: boolean;
  /** The agent accepted this version. Go agents cannot be told. */
  readonly acknowledged: boolean;
  readonly overdue: boolean;
}

export interface DrainCommand {
  /** Exact IDs. */
  readonly agentIds: readonly string[];
  readonly reason?: string | undefined;
  /** From now; 0 takes a deadline away, left out keeps what there is. */
  readonly deadlineMs?: number | undefined;
  readonly atDeadline?: 'keep' | 'close' | undefined;
  readonly until?: 'undrain' | 'restart' | undefined;
  /** Also where draining agents alone would be left for some destination. */
  readonly force?: boolean | undefined;
  /** Says what would happen and changes nothing. */
  readonly validateOnly?: boolean | undefined;
  /** By agent ID: the same ones for each server that is asked. */
  readonly orderIds?: ReadonlyMap<string, string> | undefined;
  readonly actor: string;
  readonly actorClaimed: boolean;
  /** Agents to be taken for draining already. */
  readonly assumeDrained?: readonly string[] | undefined;
}

export interface DrainOutcome {
  readonly agentId: string;
  readonly change: 'placed' | 'updated' | 'unchanged';
  readonly order: DrainOrder;
  /** Before an update. */
  readonly previous?: DrainOrder;
  /** Who takes over, a line for each destination. */
  readonly takeover: readonly string[];
  /** What the operator should know; never a refusal. */
  readonly notes: readonly string[];
}

export interface UndrainCommand {
  readonly agentIds: readonly string[];
  readonly validateOnly?: boolean | undefined;
  readonly actor: string;
  readonly actorClaimed: boolean;
}

export interface UndrainOutcome {
  readonly agentId: string;
  readonly change: 'ended' | 'unchanged';
  /** The order that ended. */
  readonly order?: DrainOrder;
  readonly notes: readonly string[];
}

/** As long as they travel to agents. */
const MOST_TEXT_BYTES = 1024;
const MOST_DEADLINE_MS = 366 * 86_400_000;
const ORDER_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** @throws Fault `bad-order` on values that no order can have */
export function checkCommand(command: DrainCommand): void {
  if (command.agentIds.length === 0) throw bad('no agent is named', 'name one at least');
  checkText('the reason', command.reason ?? '');
  checkActor(command.actor);
  const { deadlineMs } = command;
  if (deadlineMs !== undefined && !(deadlineMs >= 0 && deadlineMs <= MOST_DEADLINE_MS)) {
    throw bad(`a deadline of ${deadlineMs / 1000} s is none`, 'give 0 (none) to 366 days from now');
  }
  for (const id of command.orderIds?.values() ?? []) {
    if (!ORDER_ID.test(id)) {
      throw bad(
        `${JSON.stringify(cut(id, 100))} is no ID of an order`,
        'give 1 to 64 letters, digits, _ and -',
      );
    }
  }
}

/** @throws Fault `bad-order` on a name that is too long */
export function checkActor(actor: string): void {
  checkText('the actor', actor);
}

/** For people and the wire. */
export function shownOrder(order: Order, relayed: boolean, acknowledged: boolean): DrainOrder {
  const { deadline, instance: _, ...rest } = order;
  return { ...rest, deadlineUnixMs: deadline?.unixMs, relayed, acknowledged };
}

export function bad(message: string, remedy: string): Fault {
  return new Fault('bad-order', message, remedy);
}

function checkText(what: string, text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= MOST_TEXT_BYTES) return;
  throw bad(`${what} is ${bytes} bytes long`, `give at most ${MOST_TEXT_BYTES}`);
}
