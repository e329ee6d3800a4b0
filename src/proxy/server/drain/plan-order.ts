import { randomBytes } from 'node:crypto';
import { bad, type DrainCommand } from './drain-command.ts';
import { type Deadline, type Order, sameDeadline } from './order.ts';

/** What is known of the agent that an order is for. */
export interface PlanFacts {
  readonly agentId: string;
  /** The order that it is under. */
  readonly existing: Order | undefined;
  /** The instance to which an order until restart would belong. */
  readonly instance: string | undefined;
  /** It has not connected to this server since that started, so neither instance nor kind is known. */
  readonly isUnseen?: boolean;
  readonly now: Deadline;
}

export interface PlannedOrder {
  readonly change: 'placed' | 'updated' | 'unchanged';
  readonly order: Order;
  readonly previous: Order | undefined;
}

/**
 * What a drain command means for one agent: a new order, a new version of the one that there is, or nothing. The
 * same command once more (nothing in it differs) changes nothing; the ID of the order in force may be named, and then
 * says nothing by itself: who updates an order at several servers names it.
 * @throws Fault `bad-order`
 */
export function planOrder(command: DrainCommand, facts: PlanFacts): PlannedOrder {
  const { agentId, existing, now } = facts;
  if (existing === undefined) {
    const order: Order = {
      id: command.orderIds?.get(agentId) ?? newOrderId(),
      agentId,
      version: 1,
      actor: command.actor,
      actorClaimed: command.actorClaimed,
      reason: command.reason ?? '',
      sinceUnixMs: now.unixMs,
      deadline: deadlineOf(command.deadlineMs, now),
      atDeadline: command.atDeadline ?? 'keep',
      until: command.until ?? 'undrain',
      instance: command.until === 'restart' ? instanceOf(facts) : undefined,
      overdue: false,
    };
    return { change: 'placed', order, previous: undefined };
  }
  if (!differs(command, existing, now)) {
    return { change: 'unchanged', order: existing, previous: undefined };
  }
  const until = command.until ?? existing.until;
  const moved = command.deadlineMs !== undefined;
  const order: Order = {
    ...existing,
    version: existing.version + 1,
    actor: command.actor,
    actorClaimed: command.actorClaimed,
    reason: command.reason ?? existing.reason,
    deadline: moved ? deadlineOf(command.deadlineMs, now) : existing.deadline,
    atDeadline: command.atDeadline ?? existing.atDeadline,
    until,
    instance: until === 'restart' ? (existing.instance ?? instanceOf(facts)) : undefined,
    overdue: existing.overdue && !moved && command.atDeadline === undefined,
  };
  return { change: 'updated', order, previous: existing };
}

function differs(command: DrainCommand, order: Order, now: Deadline): boolean {
  const { reason, deadlineMs, atDeadline, until } = command;
  // Several servers are asked one after the other, and each counts from its own now.
  const tolerance = Math.min(5_000, (deadlineMs ?? 0) / 20);
  return (
    (reason !== undefined && reason !== order.reason) ||
    (atDeadline !== undefined && atDeadline !== order.atDeadline) ||
    (until !== undefined && until !== order.until) ||
    (deadlineMs !== undefined && !sameDeadline(deadlineOf(deadlineMs, now), order.deadline, tolerance))
  );
}

function deadlineOf(inMs: number | undefined, now: Deadline): Deadline | undefined {
  if (inMs === undefined || inMs === 0) return undefined;
  return { monoMs: now.monoMs + inMs, unixMs: now.unixMs + inMs };
}

function instanceOf({ agentId, instance, isUnseen }: PlanFacts): string {
  if (instance !== undefined) return instance;
  if (isUnseen === true) {
    throw bad(
      `agent ${agentId} has not connected since this server started, so it is not known which instance would end the order`,
      'leave --until restart out, or wait until it connects',
    );
  }
  throw bad(
    `agent ${agentId} is a Go agent and announces no instance, so an order until its restart would never end`,
    'leave --until restart out, and undrain it afterwards',
  );
}

/** Eight characters of base32. */
function newOrderId(): string {
  return [...randomBytes(8)].map((byte) => 'abcdefghijklmnopqrstuvwxyz234567'[byte & 31]).join('');
}
