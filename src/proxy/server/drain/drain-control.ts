import { type Clock, systemClock } from '../../ops/clock.ts';
import type { Log } from '../../ops/log.ts';
import type { Status } from '../../wire/packet.ts';
import type { Backend } from '../backend.ts';
import type { StreamRegistry } from '../selection/stream-registry.ts';
import { AgentSightings } from './agent-sightings.ts';
import { Deadlines } from './deadlines.ts';
import { type DrainBounds, defaultDrainBounds } from './drain-bounds.ts';
import type {
  DrainCommand,
  DrainOrder,
  DrainOutcome,
  UndrainCommand,
  UndrainOutcome,
} from './drain-command.ts';
import { DrainDecider } from './drain-decider.ts';
import { DrainReporter } from './drain-reporter.ts';
import type { DrainEvent } from './drain-words.ts';
import { EndedOrders } from './ended-orders.ts';
import { lastFor } from './guard.ts';
import type { Deadline } from './order.ts';
import { OrderLedger } from './order-ledger.ts';
import { inForce, type OrderState, placedHere } from './order-state.ts';
import { sweepOrders } from './order-sweep.ts';
import type { Disk } from './state-file.ts';
import { StoredOrders } from './stored-orders.ts';
import { StreamMarks } from './stream-marks.ts';

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
  readonly #log: Log;
  readonly #registry: StreamRegistry<Backend>;
  readonly #clock: Clock;
  readonly #bounds: DrainBounds;
  readonly #ledger: OrderLedger;
  readonly #deadlines: Deadlines;
  readonly #reporter: DrainReporter;
  readonly #marks: StreamMarks;
  readonly #stored: StoredOrders;
  readonly #decider: DrainDecider;
  readonly #closing = new AbortController();
  readonly #listeners = new Set<(agentId: string) => void>();

  constructor(options: DrainControlOptions) {
    this.#log = options.log;
    this.#registry = options.registry;
    this.#clock = options.clock ?? systemClock;
    this.#bounds = options.bounds ?? defaultDrainBounds;
    this.sightings = new AgentSightings(this.#clock, this.#bounds.sightings, (agentId) =>
      this.#ledger.forgetRelayed(agentId),
    );
    this.#deadlines = new Deadlines(this.#clock, (agentId) => this.#overdue(agentId));
    const onEvent = (event: DrainEvent): void => options.onEvent?.(event);
    this.#reporter = new DrainReporter({
      log: options.log,
      tunnels: (agentId) => this.#tunnels(agentId),
      onEvent,
    });
    const { mostEnded: most, keepEndedMs: keepMs } = this.#bounds;
    this.#ledger = new OrderLedger(
      new EndedOrders({ most, keepMs }),
      {
        onChange: (agentId, before, after) => this.#changed(agentId, before, after),
        onEnded: (ended, by) => {
          this.#stored.changed();
          this.#reporter.ended(ended, by);
        },
      },
      () => this.#now(),
    );
    this.#marks = new StreamMarks(options.registry, this.#ledger, this.#clock);
    const shared = {
      registry: options.registry,
      ledger: this.#ledger,
      sightings: this.sightings,
    };
    this.#stored = new StoredOrders({
      ...shared,
      clock: this.#clock,
      log: options.log,
      bounds: this.#bounds,
      directory: options.stateDirectory,
      disk: options.disk,
      onEvent,
    });
    this.#decider = new DrainDecider({
      ...shared,
      marks: this.#marks,
      drainingFallback: options.drainingFallback,
      mostOrders: this.#bounds.mostOrders,
      stored: () => this.#stored.count,
      now: () => this.#now(),
    });
  }

  /** Whether orders survive a restart of this server. */
  get keepsOrders(): boolean {
    return this.#stored.kept;
  }

  /**
   * Takes the kept orders back, before the first agent may connect. A deadline that passed meanwhile acts now.
   * @throws Fault `state-directory`
   */
  async open(): Promise<void> {
    const orders = await this.#stored.open();
    for (const { agentId, overdue, deadline } of orders) {
      if (!overdue) this.#deadlines.set(agentId, deadline?.monoMs);
    }
    if (orders.length > 0) this.#log.info(0, 'Drain orders are in force again', { orders: orders.length });
    const swept = { ledger: this.#ledger, stored: this.#stored, sightings: this.sightings };
    void sweepOrders(swept, this.#bounds, this.#clock, this.#closing.signal);
  }

  /**
   * Resolves when what was decided so far would survive a restart of this server, could not be written, or waits for
   * the disk for too long. Never rejects.
   * @returns notes for the operator
   */
  async durable(): Promise<readonly string[]> {
    const note = await this.#stored.durable();
    return note === undefined ? [] : [note];
  }

  /**
   * Places orders, or updates or repeats them: for all these agents or, where it throws, for none.
   * @throws Fault `bad-order`, `agent-unknown`, `too-many-orders`, or `drain-refused` by the guard
   */
  drain(command: DrainCommand): DrainOutcome[] {
    const { plans, outcomes } = this.#decider.drain(command);
    if (command.validateOnly === true) return outcomes;
    const actor = { name: command.actor, claimed: command.actorClaimed };
    for (const { change, order } of plans) {
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
    const outcomes = this.#decider.undrain(command);
    if (command.validateOnly === true) return outcomes;
    const actor = { name: command.actor, claimed: command.actorClaimed };
    for (const { agentId } of outcomes) {
      const said = this.#marks.saidDrain(agentId);
      for (const backend of said) backend.clearLeaving();
      this.#ledger.undrain(agentId, actor);
      this.#marks.hold(agentId);
      if (said.length === 0) continue;
      this.#reporter.cleared(agentId, actor);
      this.#tell(agentId);
    }
    this.#stored.changed();
    return outcomes;
  }

  /** The order that the agent is under, as far as this server knows. */
  orderOf(agentId: string): DrainOrder | undefined {
    return this.#decider.shown(agentId);
  }

  orders(): DrainOrder[] {
    return [...this.#ledger.states()].map(([agentId]) => this.#decider.shown(agentId) as DrainOrder);
  }

  /** Destinations that no other ready agent serves, in words; at most ten. */
  lastFor(agentId: string): string[] {
    return lastFor(this.#registry, agentId);
  }

  /** Connected, under an order, or gone for less than an hour. */
  known(agentId: string): boolean {
    return this.#decider.known(agentId);
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
    this.#stored.agentBack(agentId);
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
    this.#stored.noteIfGone(agentId);
  }

  /** Writes what is left. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#deadlines.close();
    this.#listeners.clear();
    await this.#stored.close();
  }

  #changed(agentId: string, before: OrderState, after: OrderState): void {
    this.#stored.moved(agentId, before, after);
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

  #now(): Deadline {
    return { monoMs: this.#clock.monoMs(), unixMs: this.#clock.wallMs() };
  }

  #tell(agentId: string): void {
    for (const listener of [...this.#listeners]) listener(agentId);
  }
}
