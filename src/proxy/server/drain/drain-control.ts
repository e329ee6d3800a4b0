import { type Clock, systemClock } from '../../ops/clock.ts';
import { Fault } from '../../ops/fault.ts';
import type { Log } from '../../ops/log.ts';
import { oneLine } from '../../ops/safe-text.ts';
import type { Status } from '../../wire/packet.ts';
import type { Backend } from '../backend.ts';
import type { StreamRegistry } from '../selection/stream-registry.ts';
import { AgentSightings, defaultSightingBounds, type SightingBounds } from './agent-sightings.ts';
import { Deadlines } from './deadlines.ts';
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
import { DrainReporter } from './drain-reporter.ts';
import type { DrainEvent } from './drain-words.ts';
import { clockText } from './drain-words.ts';
import { EndedOrders } from './ended-orders.ts';
import { GoneAgents } from './gone-agents.ts';
import { forecast, lastFor, MOST_NAMED, refuseLoss } from './guard.ts';
import { keptOrder, restoredOrder } from './kept-order.ts';
import type { Deadline } from './order.ts';
import type { KeptOrder, KeptOrders } from './order-file.ts';
import { OrderKeeper } from './order-keeper.ts';
import { OrderLedger } from './order-ledger.ts';
import { inForce, type OrderState, placedHere } from './order-state.ts';
import { type PlannedOrder, planOrder } from './plan-order.ts';
import type { Disk } from './state-file.ts';
import { StreamMarks } from './stream-marks.ts';

/** Time constants and bounds; tests shrink them. */
export interface DrainBounds {
  /** Orders that were placed here. */
  readonly mostOrders: number;
  /** IDs of ended orders that are remembered, and for how long. */
  readonly mostEnded: number;
  readonly keepEndedMs: number;
  /** An order of an agent that is gone for so long ends. */
  readonly goneMs: number;
  /** How often that is looked at. */
  readonly sweepMs: number;
  /** Between two writes to the state directory, and after one that failed. */
  readonly writePauseMs: number;
  readonly writeRetryMs: number;
  /** How long an answer to an operator waits for the state directory. */
  readonly durableMs: number;
  readonly sightings: SightingBounds;
}

export const defaultDrainBounds: DrainBounds = {
  mostOrders: 10_000,
  mostEnded: 10_000,
  keepEndedMs: 86_400_000,
  goneMs: 86_400_000,
  sweepMs: 60_000,
  writePauseMs: 20,
  writeRetryMs: 5_000,
  durableMs: 2_000,
  sightings: defaultSightingBounds,
};

/** What it is made of. */
export interface DrainControlOptions {
  readonly registry: StreamRegistry<Backend>;
  readonly drainingFallback: 'last-resort' | 'strategy';
  readonly log: Log;
  readonly clock?: Clock;
  readonly bounds?: DrainBounds;
  /** Where orders survive a restart; empty or left out: nowhere. */
  readonly stateDirectory?: string | undefined;
  readonly disk?: Disk;
  onEvent?(event: DrainEvent): void;
}

/**
 * Drain orders at this server: places and ends them, holds the marks of streams to them, and tells agents. What an
 * operator asks for is decided and done in one synchronous step, so that of two who drain the last two ready agents
 * at once the second is refused.
 */
export class DrainControl {
  readonly sightings: AgentSightings;
  readonly #options: DrainControlOptions;
  readonly #registry: StreamRegistry<Backend>;
  readonly #clock: Clock;
  readonly #bounds: DrainBounds;
  readonly #ledger: OrderLedger;
  readonly #deadlines: Deadlines;
  readonly #reporter: DrainReporter;
  readonly #marks: StreamMarks;
  readonly #gone: GoneAgents;
  readonly #keeper: OrderKeeper | undefined;
  readonly #closing = new AbortController();
  readonly #listeners = new Set<(agentId: string) => void>();
  /** Orders that were placed here. */
  #stored = 0;

  constructor(options: DrainControlOptions) {
    this.#options = options;
    this.#registry = options.registry;
    this.#clock = options.clock ?? systemClock;
    this.#bounds = options.bounds ?? defaultDrainBounds;
    this.sightings = new AgentSightings(this.#clock, this.#bounds.sightings, (agentId) =>
      this.#ledger.forgetRelayed(agentId),
    );
    this.#deadlines = new Deadlines(this.#clock, (agentId) => this.#overdue(agentId));
    this.#reporter = new DrainReporter({
      log: options.log,
      tunnels: (agentId) => this.#tunnels(agentId),
      onEvent: (event) => options.onEvent?.(event),
    });
    const { mostEnded: most, keepEndedMs: keepMs } = this.#bounds;
    this.#ledger = new OrderLedger(
      new EndedOrders({ most, keepMs }),
      {
        onChange: (agentId, before, after) => this.#changed(agentId, before, after),
        onEnded: (ended, by) => {
          this.#keeper?.changed();
          this.#reporter.ended(ended, by);
        },
      },
      () => this.#clock.wallMs(),
    );
    this.#marks = new StreamMarks(options.registry, this.#ledger, this.#clock);
    this.#gone = new GoneAgents(this.#clock);
    this.#keeper = this.#makeKeeper(options);
  }

  /** Whether orders survive a restart of this server. */
  get keepsOrders(): boolean {
    return this.#keeper !== undefined;
  }

  /**
   * Takes the kept orders back, before the first agent may connect. A deadline that passed meanwhile acts now.
   * @throws Fault `state-directory`
   */
  async open(): Promise<void> {
    if (this.#keeper !== undefined) {
      const kept = await this.#keeper.open();
      for (const ended of kept.ended) this.#ledger.ended.add(ended);
      for (const order of kept.orders) this.#restore(order);
      this.#keeper.keep(() => this.#kept());
      if (kept.orders.length > 0) {
        const orders = this.#stored;
        this.#options.log.info(0, 'Drain orders are in force again', { orders });
      }
    }
    void this.#sweepAgain();
  }

  /**
   * Resolves when what was decided so far would survive a restart of this server, could not be written, or waits for
   * the disk for too long. Never rejects.
   * @returns notes for the operator
   */
  async durable(): Promise<readonly string[]> {
    if (this.#keeper === undefined) return [];
    const late = new AbortController();
    const slow = this.#clock
      .wait(this.#bounds.durableMs, late.signal)
      .then(() => 'not in the state directory yet: its disk is slow, and a restart now would lose it');
    const note = await Promise.race([this.#keeper.durable(), slow]);
    late.abort();
    return note === undefined ? [] : [note];
  }

  /**
   * Places orders, or updates or repeats them: for all these agents or, where it throws, for none.
   * @throws Fault `bad-order`, `agent-unknown`, `too-many-orders`, or `drain-refused` by the guard
   */
  drain(command: DrainCommand): DrainOutcome[] {
    checkCommand(command);
    const agentIds = [...new Set(command.agentIds)];
    this.#checkKnown(agentIds);
    this.#registry.advance();
    const plans = new Map(agentIds.map((agentId) => [agentId, this.#plan(command, agentId)]));
    this.#checkRoom([...plans.values()]);
    const { drainingFallback } = this.#options;
    const outlook = forecast(this.#registry, agentIds, command.assumeDrained ?? [], drainingFallback);
    if (command.force !== true) refuseLoss(agentIds, outlook.lost);
    const outcomes = agentIds.map((agentId): DrainOutcome => {
      const { change, order, previous } = plans.get(agentId) as PlannedOrder;
      return {
        agentId,
        change,
        order: shownOrder(order, false, change === 'unchanged' && this.#ledger.acknowledged(agentId)),
        ...(previous === undefined ? {} : { previous: this.#shown(agentId) as DrainOrder }),
        takeover: outlook.takeover(agentId),
        notes: [...this.#notes(agentId), ...forced(outlook.lost), ...outlook.notes(agentId)],
      };
    });
    if (command.validateOnly === true) return outcomes;
    const actor = { name: command.actor, claimed: command.actorClaimed };
    for (const { change, order } of plans.values()) {
      // Also one that is known through its agent alone: it is placed here, too, now.
      if (placedHere(this.#ledger.stateOf(order.agentId)) !== order) this.#ledger.place(order, actor);
      if (change !== 'unchanged') this.#reporter.placed(order, change);
    }
    return outcomes;
  }

  /**
   * Ends the orders of these agents, and takes the mark from Go agents that said DRAIN: for all or for none.
   * @throws Fault `agent-unknown`, or `undrain-refused` for an agent of ours that is shutting down
   */
  undrain(command: UndrainCommand): UndrainOutcome[] {
    checkActor(command.actor);
    const agentIds = [...new Set(command.agentIds)];
    this.#checkKnown(agentIds);
    const outcomes = agentIds.map((agentId) => this.#undrainOutcome(agentId));
    if (command.validateOnly === true) return outcomes;
    const actor = { name: command.actor, claimed: command.actorClaimed };
    for (const agentId of agentIds) {
      const said = this.#marks.saidDrain(agentId);
      for (const backend of said) backend.clearLeaving();
      this.#ledger.undrain(agentId, actor);
      this.#marks.hold(agentId);
      if (said.length === 0) continue;
      this.#reporter.cleared(agentId, actor);
      this.#tell(agentId);
    }
    this.#keeper?.changed();
    return outcomes;
  }

  /** The order that the agent is under, as far as this server knows. */
  orderOf(agentId: string): DrainOrder | undefined {
    return this.#shown(agentId);
  }

  orders(): DrainOrder[] {
    return [...this.#ledger.states()].map(([agentId]) => this.#shown(agentId) as DrainOrder);
  }

  /** Destinations that no other ready agent serves, in words; at most ten. */
  lastFor(agentId: string): string[] {
    return lastFor(this.#registry, agentId);
  }

  /** Connected, under an order, or gone for less than an hour. */
  known(agentId: string): boolean {
    return this.sightings.has(agentId) || inForce(this.#ledger.stateOf(agentId)) !== undefined;
  }

  /** Since when every stream of this agent says that it shuts down; undefined when one does not, or none is left. */
  leavingSinceUnixMs(agentId: string): number | undefined {
    return this.#marks.leavingSinceUnixMs(agentId);
  }

  /** Calls back with the ID of each agent whose order changed, once the change is complete. @returns the way out */
  onChange(listener: (agentId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A stream is about to be registered. @returns whether it is draining from its first instant */
  connecting(backend: Backend): boolean {
    const { agentId } = backend;
    this.sightings.connected(backend);
    if (this.#gone.back(agentId)) this.#keeper?.changed();
    const stream = this.#marks.add(backend);
    this.#ledger.connected(stream);
    return this.#ledger.drains(stream);
  }

  /** A STATUS arrived. */
  heard(backend: Backend, status: Status): void {
    const stream = this.#marks.of(backend);
    const word = stream?.wordOf(status);
    if (stream === undefined || word === undefined) return;
    this.#ledger.announced(stream, word);
    this.#marks.hold(backend.agentId);
  }

  /** A stream ended and is registered no more. */
  disconnected(backend: Backend): void {
    const { agentId } = backend;
    const stream = this.#marks.of(backend);
    if (stream === undefined) return;
    this.#marks.remove(backend);
    this.sightings.disconnected(agentId);
    this.#ledger.disconnected(stream);
    this.#noteIfGone(agentId);
  }

  /** Writes what is left. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#deadlines.close();
    this.#listeners.clear();
    await this.#keeper?.close();
  }

  #makeKeeper(options: DrainControlOptions): OrderKeeper | undefined {
    const { stateDirectory: directory, disk, log } = options;
    if (directory === undefined || directory === '') return undefined;
    const { writePauseMs: pauseMs, writeRetryMs: retryMs } = this.#bounds;
    return new OrderKeeper({
      directory,
      log,
      clock: this.#clock,
      pauseMs,
      retryMs,
      ...(disk === undefined ? {} : { disk }),
      onEvent: (event) => options.onEvent?.(event),
    });
  }

  #restore(kept: KeptOrder): void {
    const order = restoredOrder(kept, this.#now());
    this.#ledger.restore(order);
    this.#stored++;
    // An agent that was connected when this server stopped is gone since now.
    this.#gone.gone(order.agentId, kept.goneSinceUnixMs);
    if (!order.overdue) this.#deadlines.set(order.agentId, order.deadline?.monoMs);
  }

  #kept(): KeptOrders {
    const orders: KeptOrder[] = [];
    for (const [agentId, state] of this.#ledger.states()) {
      const order = placedHere(state);
      if (order !== undefined) orders.push(keptOrder(order, this.#gone.sinceUnixMs(agentId)));
    }
    return { orders, ended: [...this.#ledger.ended.all()] };
  }

  /** The order of an agent that is gone waits for it, but not for ever. */
  #noteIfGone(agentId: string): void {
    if (placedHere(this.#ledger.stateOf(agentId)) === undefined) return;
    if (this.#registry.streamsOf(agentId).length > 0) return;
    this.#gone.gone(agentId, this.sightings.of(agentId)?.goneSinceUnixMs);
    this.#keeper?.changed();
  }

  async #sweepAgain(): Promise<void> {
    const { signal } = this.#closing;
    for (;;) {
      await this.#clock.wait(this.#bounds.sweepMs, signal);
      if (signal.aborted) return;
      for (const agentId of this.#gone.longerThan(this.#bounds.goneMs)) this.#ledger.expire(agentId);
      this.sightings.expire();
      if (this.#ledger.ended.expire(this.#clock.wallMs()) > 0) this.#keeper?.changed();
    }
  }

  #plan(command: DrainCommand, agentId: string): PlannedOrder {
    const state = this.#ledger.stateOf(agentId);
    const planned = planOrder(command, {
      agentId,
      existing: inForce(state),
      instance: this.sightings.of(agentId)?.instance,
      now: this.#now(),
    });
    if (planned.change === 'placed' && this.#ledger.ended.has(agentId, planned.order.id)) {
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
    const more = plans.filter(
      ({ order }) => placedHere(this.#ledger.stateOf(order.agentId)) === undefined,
    ).length;
    if (more === 0 || this.#stored + more <= this.#bounds.mostOrders) return;
    throw new Fault(
      'too-many-orders',
      `this server holds ${this.#stored} drain orders, and has room for ${this.#bounds.mostOrders}`,
      'undrain agents that are done',
    );
  }

  #notes(agentId: string): string[] {
    const streams = this.#registry.streamsOf(agentId);
    const leavingSince = this.leavingSinceUnixMs(agentId);
    const kind = this.sightings.of(agentId)?.kind;
    const notes: string[] = [];
    if (streams.length === 0) notes.push(`agent ${agentId} is not connected: the order waits for it`);
    if (leavingSince !== undefined) notes.push(`agent ${agentId} ${leavingText(leavingSince)}`);
    if (kind === 'go') {
      notes.push(`Go agent: the order of ${agentId} is kept at the servers that are told; it does not know`);
    }
    return notes;
  }

  #undrainOutcome(agentId: string): UndrainOutcome {
    const order = this.#shown(agentId);
    const streams = this.#registry.streamsOf(agentId);
    const leavingSince = this.leavingSinceUnixMs(agentId);
    const ours = streams.some((backend) => backend.ours);
    const notes: string[] = [];
    if (leavingSince !== undefined && ours) {
      const text = `${leavingText(leavingSince)}; only a new process makes it ready`;
      if (order === undefined) throw new Fault('undrain-refused', `${agentId} ${text}`);
      notes.push(`the order ends, but ${agentId} ${text}`);
    }
    const cleared = this.#marks.saidDrain(agentId).length;
    if (cleared > 0) {
      notes.push(
        `Go agent ${agentId} said that it drains: this server takes it for ready all the same; it may be about to end`,
      );
    }
    const change = order !== undefined || cleared > 0 ? 'ended' : 'unchanged';
    return { agentId, change, ...(order === undefined ? {} : { order }), notes };
  }

  #shown(agentId: string): DrainOrder | undefined {
    const state = this.#ledger.stateOf(agentId);
    const order = inForce(state);
    if (order === undefined) return undefined;
    return shownOrder(order, state.kind !== 'stored', this.#ledger.acknowledged(agentId));
  }

  #changed(agentId: string, before: OrderState, after: OrderState): void {
    const [was, is] = [placedHere(before), placedHere(after)];
    this.#stored += Number(is !== undefined) - Number(was !== undefined);
    if (is === undefined) this.#gone.back(agentId);
    else if (was === undefined) this.#noteIfGone(agentId);
    if (was !== is) this.#keeper?.changed();
    const order = inForce(after);
    this.#deadlines.set(agentId, order?.overdue === false ? order.deadline?.monoMs : undefined);
    this.#marks.hold(agentId);
    this.#reporter.changed(before, after);
    this.#tell(agentId);
  }

  #overdue(agentId: string): void {
    const order = inForce(this.#ledger.stateOf(agentId));
    if (order === undefined) return;
    this.#ledger.overdue(agentId);
    let closed = 0;
    if (order.atDeadline === 'close') {
      for (const backend of this.#registry.streamsOf(agentId)) {
        for (const tunnel of [...backend.tunnels.values()]) {
          tunnel.close('drain-deadline');
          closed++;
        }
      }
    }
    this.#reporter.overdue(order, closed);
  }

  #tunnels(agentId: string): number {
    return this.#registry.streamsOf(agentId).reduce((sum, backend) => sum + backend.tunnels.size, 0);
  }

  #tell(agentId: string): void {
    for (const listener of [...this.#listeners]) listener(agentId);
  }

  #now(): Deadline {
    return { monoMs: this.#clock.monoMs(), unixMs: this.#clock.wallMs() };
  }
}

/** Of an agent ID that nobody has, in a text: a client may send anything. */
const MOST_SHOWN_CHARACTERS = 100;

function forced(lost: readonly string[]): string[] {
  if (lost.length === 0) return [];
  const more = lost.length > MOST_NAMED ? ` and ${lost.length - MOST_NAMED} more` : '';
  return [`forced: draining agents alone are left for ${lost.slice(0, MOST_NAMED).join(', ')}${more}`];
}

function leavingText(sinceUnixMs: number): string {
  return `is shutting down since ${clockText(sinceUnixMs)}`;
}
