import { Fault } from '../../ops/fault.ts';
import { oneLine } from '../../ops/safe-text.ts';
import type { Backend } from '../backend.ts';
import type { StreamRegistry } from '../selection/stream-registry.ts';
import type { AgentSightings } from './agent-sightings.ts';
import {
  bad,
  checkActor,
  checkCommand,
  type DrainCommand,
  type DrainOrder,
  type DrainOutcome,
  shownOrder,
  type UndrainCommand,
  type UndrainOutcome,
} from './drain-command.ts';
import { clockText } from './drain-words.ts';
import { forecast, MOST_NAMED, refuseLoss } from './guard.ts';
import type { Deadline } from './order.ts';
import type { OrderLedger } from './order-ledger.ts';
import { inForce, placedHere } from './order-state.ts';
import { type PlannedOrder, planOrder } from './plan-order.ts';
import type { StreamMarks } from './stream-marks.ts';

/** Of an agent ID that nobody has, in a text: a client may send anything. */
const MOST_SHOWN_CHARACTERS = 100;

/** What is looked at. */
export interface DecisionFacts {
  readonly registry: StreamRegistry<Backend>;
  readonly ledger: OrderLedger;
  readonly marks: StreamMarks;
  readonly sightings: AgentSightings;
  readonly drainingFallback: 'last-resort' | 'strategy';
  readonly mostOrders: number;
  /** Orders that were placed here. */
  stored(): number;
  now(): Deadline;
}

/** What is to be done for a drain command, and what to tell of it. */
export interface DrainDecision {
  readonly plans: readonly PlannedOrder[];
  readonly outcomes: DrainOutcome[];
}

/** Decides what operators ask for. Changes nothing, so that a dry run and the deed go the same way. */
export class DrainDecider {
  readonly #facts: DecisionFacts;

  constructor(facts: DecisionFacts) {
    this.#facts = facts;
  }

  /** @throws Fault `bad-order`, `agent-unknown`, `too-many-orders`, or `drain-refused` by the guard */
  drain(command: DrainCommand): DrainDecision {
    checkCommand(command);
    const { registry, ledger, drainingFallback } = this.#facts;
    const agentIds = [...new Set(command.agentIds)];
    this.#checkKnown(agentIds);
    registry.advance();
    const plans = agentIds.map((agentId) => this.#plan(command, agentId));
    this.#checkRoom(plans);
    const outlook = forecast(registry, agentIds, command.assumeDrained ?? [], drainingFallback);
    if (command.force !== true) refuseLoss(agentIds, outlook.lost);
    const outcomes = plans.map(({ change, order, previous }): DrainOutcome => {
      const { agentId } = order;
      return {
        agentId,
        change,
        order: shownOrder(order, false, change === 'unchanged' && ledger.acknowledged(agentId)),
        ...(previous === undefined ? {} : { previous: this.shown(agentId) as DrainOrder }),
        takeover: outlook.takeover(agentId),
        notes: [...this.#notes(agentId), ...forced(outlook.lost), ...outlook.notes(agentId)],
      };
    });
    return { plans, outcomes };
  }

  /** @throws Fault `bad-order`, `agent-unknown`, or `undrain-refused` for an agent of ours that is shutting down */
  undrain(command: UndrainCommand): UndrainOutcome[] {
    checkActor(command.actor);
    const agentIds = [...new Set(command.agentIds)];
    this.#checkKnown(agentIds);
    return agentIds.map((agentId) => this.#undrainOutcome(agentId));
  }

  /** Connected, under an order, or gone for less than an hour. */
  known(agentId: string): boolean {
    const { sightings, ledger } = this.#facts;
    return sightings.has(agentId) || inForce(ledger.stateOf(agentId)) !== undefined;
  }

  /** The order that the agent is under, as operators see it. */
  shown(agentId: string): DrainOrder | undefined {
    const { ledger } = this.#facts;
    const state = ledger.stateOf(agentId);
    const order = inForce(state);
    if (order === undefined) return undefined;
    return shownOrder(order, state.kind !== 'stored', ledger.acknowledged(agentId));
  }

  #plan(command: DrainCommand, agentId: string): PlannedOrder {
    const { ledger, sightings, now } = this.#facts;
    const planned = planOrder(command, {
      agentId,
      existing: inForce(ledger.stateOf(agentId)),
      instance: sightings.of(agentId)?.instance,
      isUnseen: !sightings.has(agentId),
      now: now(),
    });
    if (planned.change === 'placed' && ledger.ended.has(agentId, planned.order.id)) {
      throw bad(`order ${planned.order.id} of agent ${agentId} has ended`, 'give a new order another ID');
    }
    return planned;
  }

  #checkKnown(agentIds: readonly string[]): void {
    const unknown = agentIds.filter((agentId) => !this.known(agentId));
    if (unknown.length === 0) return;
    const named = unknown
      .slice(0, MOST_NAMED)
      .map((agentId) => oneLine(agentId, MOST_SHOWN_CHARACTERS))
      .join(', ');
    const more = unknown.length > MOST_NAMED ? ` and ${unknown.length - MOST_NAMED} more` : '';
    throw new Fault(
      'agent-unknown',
      `no agent ${named}${more} is connected, or was within the last hour`,
      'see konnectivity-ts agents',
    );
  }

  #checkRoom(plans: readonly PlannedOrder[]): void {
    const { ledger, mostOrders } = this.#facts;
    const stored = this.#facts.stored();
    const more = plans.filter(({ order }) => placedHere(ledger.stateOf(order.agentId)) === undefined).length;
    if (more === 0 || stored + more <= mostOrders) return;
    throw new Fault(
      'too-many-orders',
      `this server holds ${stored} drain orders, and has room for ${mostOrders}`,
      'undrain agents that are done',
    );
  }

  #notes(agentId: string): string[] {
    const { registry, marks, sightings } = this.#facts;
    const leavingSince = marks.leavingSinceUnixMs(agentId);
    const notes: string[] = [];
    if (registry.streamsOf(agentId).length === 0) {
      notes.push(`agent ${agentId} is not connected: the order waits for it`);
    }
    if (leavingSince !== undefined) notes.push(`agent ${agentId} ${leavingText(leavingSince)}`);
    if (sightings.of(agentId)?.kind === 'go') {
      notes.push(`Go agent: the order of ${agentId} is kept at the servers that are told; it does not know`);
    }
    return notes;
  }

  #undrainOutcome(agentId: string): UndrainOutcome {
    const { registry, marks } = this.#facts;
    const order = this.shown(agentId);
    const leavingSince = marks.leavingSinceUnixMs(agentId);
    const ours = registry.streamsOf(agentId).some((backend) => backend.ours);
    const notes: string[] = [];
    if (leavingSince !== undefined && ours) {
      const text = `${leavingText(leavingSince)}; only a new process makes it ready`;
      if (order === undefined) throw new Fault('undrain-refused', `${agentId} ${text}`);
      notes.push(`the order ends, but ${agentId} ${text}`);
    }
    const cleared = marks.saidDrain(agentId).length;
    if (cleared > 0) {
      notes.push(
        `Go agent ${agentId} said that it drains: this server takes it for ready all the same; it may be about to end`,
      );
    }
    const change = order !== undefined || cleared > 0 ? 'ended' : 'unchanged';
    return { agentId, change, ...(order === undefined ? {} : { order }), notes };
  }
}

function forced(lost: readonly string[]): string[] {
  if (lost.length === 0) return [];
  const more = lost.length > MOST_NAMED ? ` and ${lost.length - MOST_NAMED} more` : '';
  return [`forced: draining agents alone are left for ${lost.slice(0, MOST_NAMED).join(', ')}${more}`];
}

function leavingText(sinceUnixMs: number): string {
  return `is shutting down since ${clockText(sinceUnixMs)}`;
}
