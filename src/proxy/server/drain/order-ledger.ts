import type { EndedOrders } from './ended-orders.ts';
import type { Actor, Deadline, Order } from './order.ts';
import {
  type EndedOrder,
  inForce,
  NO_ORDER,
  type OrderInput,
  type OrderState,
  placedHere,
  transition,
} from './order-state.ts';

/** An agent's stream, as far as orders go. */
export interface OrderStream {
  readonly agentId: string;
  /** Undefined for a Go agent. */
  readonly instance: string | undefined;
  /** Whether it can be told of orders. Else an order is this server's own state. */
  readonly takesOrders: boolean;
  sendOrder(order: Order): void;
  sendEnds(ids: readonly string[], by: Actor): void;
}

/** What an agent said of its orders in one STATUS. */
export interface OrderWord {
  readonly number: number;
  readonly order: Order | undefined;
  /** Newest last. */
  readonly ended: readonly string[];
}

/** Told of each change of an agent's order, after it is complete. */
export interface LedgerEvents {
  onChange(agentId: string, before: OrderState, after: OrderState): void;
  /** `by` is undefined where no operator of this server did it. */
  onEnded(ended: EndedOrder, by: Actor | undefined): void;
}

/** What a stream was last told, so that nothing is said twice for the same word of its agent. */
interface Told {
  order: string | undefined;
  atNumber: number | undefined;
  end: string | undefined;
}

interface Standing {
  number: number;
  order: Order | undefined;
}

interface Entry {
  state: OrderState;
  /** The instance that came last. */
  current: string | undefined;
  readonly streams: Map<OrderStream, Told>;
  /** The highest word of each live instance, in the order in which they came. */
  readonly standings: Map<string, Standing>;
}

const NOBODY: Actor = { name: '', claimed: false };

/**
 * The orders of all agents at one server, and what is told to agents about them. No I/O and no clock: whoever owns
 * it feeds it what happens, each call one whole step.
 */
export class OrderLedger {
  readonly ended: EndedOrders;
  readonly #events: LedgerEvents;
  readonly #now: () => Deadline;
  readonly #entries = new Map<string, Entry>();

  constructor(ended: EndedOrders, events: LedgerEvents, now: () => Deadline) {
    this.ended = ended;
    this.#events = events;
    this.#now = now;
  }

  stateOf(agentId: string): OrderState {
    return this.#entries.get(agentId)?.state ?? NO_ORDER;
  }

  /** Agents with an order, and its state. */
  *states(): Generator<readonly [string, OrderState]> {
    for (const [agentId, { state }] of this.#entries) {
      if (state.kind !== 'none') yield [agentId, state];
    }
  }

  /** Whether the agent of today accepted the version that is in force. */
  acknowledged(agentId: string): boolean {
    const entry = this.#entries.get(agentId);
    if (entry === undefined) return false;
    const { state } = entry;
    return state.kind === 'stored' ? hasTaken(entry, state) : state.kind !== 'none';
  }

  /** Whether an order makes this stream draining. */
  drains(stream: OrderStream): boolean {
    const entry = this.#entries.get(stream.agentId);
    if (entry === undefined) return false;
    return placedHere(entry.state) !== undefined || this.#standing(entry, stream.instance) !== undefined;
  }

  /** Takes orders back that were stored before this process began. */
  restore(order: Order): void {
    this.#entry(order.agentId).state = { kind: 'stored', order, taken: undefined };
  }

  /** An operator's order, or a new version of it. Its agent is told. */
  place(order: Order, by: Actor): void {
    const entry = this.#entry(order.agentId);
    this.#step(order.agentId, entry, { kind: 'placed', order }, by);
    for (const [stream, told] of entry.streams) {
      const { instance } = stream;
      const heard = instance === undefined ? undefined : entry.standings.get(instance)?.number;
      // The agent may refuse it at any word after the last one heard: the order that is in its way may have ended.
      this.#offer(entry, stream, told, heard === -1 ? undefined : heard);
    }
  }

  /** Ends every order of that agent that this server knows of, and tells the agent. */
  undrain(agentId: string, by: Actor): void {
    const entry = this.#entries.get(agentId);
    if (entry === undefined) return;
    // An older instance may be under one that the newest is not.
    const others = new Set<string>();
    for (const { order } of entry.standings.values()) if (order !== undefined) others.add(order.id);
    this.#step(agentId, entry, { kind: 'undrained' }, by);
    for (const id of others) this.#bury(agentId, id, { byRestart: false, heard: false });
    this.#tellEnds(entry, [...others], by);
    this.#forgetIdle(agentId, entry);
  }

  /** A stream is about to be registered. Its agent is told of an order; drains() says whether it is under one. */
  connected(stream: OrderStream): void {
    const { agentId, instance } = stream;
    const entry = this.#entry(agentId);
    const fresh = instance === undefined || !entry.standings.has(instance);
    entry.streams.set(stream, { order: undefined, atNumber: undefined, end: undefined });
    if (fresh) {
      if (instance !== undefined) entry.standings.set(instance, { number: -1, order: undefined });
      if (instance !== undefined || entry.standings.size === 0) entry.current = instance;
      this.#step(agentId, entry, { kind: 'connected', instance }, undefined);
    }
    const told = entry.streams.get(stream) as Told;
    this.#offer(entry, stream, told, undefined);
  }

  /** What a STATUS says of orders. Only where the stream takes them. */
  announced(stream: OrderStream, word: OrderWord): void {
    const { agentId, instance } = stream;
    const entry = this.#entries.get(agentId);
    const told = entry?.streams.get(stream);
    if (entry === undefined || told === undefined || instance === undefined) return;
    const standing = entry.standings.get(instance);
    // Said before the agent met what was sent on this stream when it began.
    told.atNumber ??= word.number;
    // Words of one instance come on several streams and may overtake each other.
    if (standing === undefined || word.number < standing.number) return;
    standing.number = word.number;
    standing.order = word.order;
    this.#hear(agentId, entry, instance, word);
    const { order } = word;
    if (order !== undefined && told.end !== order.id && this.ended.endedForAll(agentId, order.id)) {
      told.end = order.id;
      stream.sendEnds([order.id], NOBODY);
    }
    this.#offer(entry, stream, told, word.number);
  }

  /** A stream ended. */
  disconnected(stream: OrderStream): void {
    const { agentId, instance } = stream;
    const entry = this.#entries.get(agentId);
    if (entry === undefined || !entry.streams.delete(stream)) return;
    const alive = [...entry.streams.keys()];
    if (instance !== undefined && !alive.some((other) => other.instance === instance)) {
      entry.standings.delete(instance);
      const left = [...entry.standings.entries()].at(-1);
      if (entry.current === instance && left !== undefined) {
        entry.current = left[0];
        const { number, order } = left[1];
        if (number >= 0) this.#hear(agentId, entry, left[0], { number, order, ended: [] });
      }
    }
    this.#forgetIdle(agentId, entry);
  }

  /** Its deadline passed. */
  overdue(agentId: string): void {
    const entry = this.#entries.get(agentId);
    if (entry !== undefined) this.#step(agentId, entry, { kind: 'overdue' }, undefined);
  }

  /** The agent is gone for too long: its order ends. */
  expire(agentId: string): void {
    const entry = this.#entries.get(agentId);
    if (entry === undefined) return;
    this.#step(agentId, entry, { kind: 'expired' }, undefined);
    this.#forgetIdle(agentId, entry);
  }

  /** Forgets what an agent that is gone said of an order of another server. */
  forgetRelayed(agentId: string): void {
    const entry = this.#entries.get(agentId);
    if (entry === undefined || entry.state.kind !== 'relayed' || entry.streams.size > 0) return;
    const before = entry.state;
    entry.state = NO_ORDER;
    this.#events.onChange(agentId, before, NO_ORDER);
    this.#forgetIdle(agentId, entry);
  }

  #hear(agentId: string, entry: Entry, instance: string, word: OrderWord): void {
    const said = new Set(word.ended);
    if (entry.current !== instance) {
      // Of an older instance only an end counts, and its own streams' marks.
      const own = placedHere(entry.state);
      if (own !== undefined && said.has(own.id)) {
        this.#step(agentId, entry, { kind: 'ended', id: own.id }, undefined);
      }
      return;
    }
    const ended = (id: string): boolean => said.has(id) || this.ended.endedForAll(agentId, id);
    const by = { instance, number: word.number };
    const { monoMs: nowMonoMs } = this.#now();
    this.#step(agentId, entry, { kind: 'announced', by, order: word.order, ended, nowMonoMs }, undefined);
  }

  #step(agentId: string, entry: Entry, input: OrderInput, by: Actor | undefined): void {
    const before = entry.state;
    const { state, ended } = transition(before, input);
    entry.state = state;
    const told: string[] = [];
    for (const { order, cause } of ended) {
      // What expired here may be in force elsewhere, and whom a restart ends it for is gone.
      if (cause !== 'expired') {
        const heard = by === undefined && placedHere(before)?.id !== order.id;
        this.#bury(agentId, order.id, { byRestart: cause === 'restart', heard });
      }
      if (cause !== 'expired' && cause !== 'restart') told.push(order.id);
    }
    this.#tellEnds(entry, told, by ?? NOBODY);
    if (!sameState(before, state)) this.#events.onChange(agentId, before, state);
    for (const one of ended) this.#events.onEnded(one, by);
  }

  #bury(agentId: string, id: string, { byRestart, heard }: { byRestart: boolean; heard: boolean }): void {
    const { monoMs, unixMs } = this.#now();
    const ended = { id, agentId, atUnixMs: unixMs, byRestart };
    if (heard) this.ended.addHeard(ended, monoMs);
    else this.ended.add(ended, monoMs);
  }

  #tellEnds(entry: Entry, ids: readonly string[], by: Actor): void {
    if (ids.length === 0) return;
    for (const [stream, told] of entry.streams) {
      if (!stream.takesOrders) continue;
      const news = ids.filter((id) => id !== told.end);
      if (news.length === 0) continue;
      told.end = news.at(-1);
      stream.sendEnds(news, by);
    }
  }

  /**
   * Sends the order that is stored here, unless the agent has it, or was sent it and said nothing new since. An agent
   * that is under another order ignores it, so it is sent again when that one is gone.
   */
  #offer(entry: Entry, stream: OrderStream, told: Told, atNumber: number | undefined): void {
    const { state } = entry;
    if (state.kind !== 'stored' || !stream.takesOrders) return;
    const order = `${state.order.id} ${state.order.version}`;
    if (stream.instance === entry.current) {
      if (hasTaken(entry, state)) return;
      if (told.order === order && (atNumber === undefined || told.atNumber === atNumber)) return;
    } else if (told.order === order || state.order.until === 'restart') return;
    told.order = order;
    told.atNumber = atNumber;
    stream.sendOrder(state.order);
  }

  #standing(entry: Entry, instance: string | undefined): Order | undefined {
    if (instance === undefined) return undefined;
    const order = entry.standings.get(instance)?.order;
    return order === undefined || this.ended.endedForAll(order.agentId, order.id) ? undefined : order;
  }

  #entry(agentId: string): Entry {
    let entry = this.#entries.get(agentId);
    if (entry === undefined) {
      entry = { state: NO_ORDER, current: undefined, streams: new Map(), standings: new Map() };
      this.#entries.set(agentId, entry);
    }
    return entry;
  }

  #forgetIdle(agentId: string, entry: Entry): void {
    if (entry.streams.size === 0 && inForce(entry.state) === undefined) this.#entries.delete(agentId);
  }
}

/** Whether the newest instance said that it has the version that is stored. */
function hasTaken(entry: Entry, { order, taken }: Extract<OrderState, { kind: 'stored' }>): boolean {
  return taken !== undefined && taken.instance === entry.current && taken.version >= order.version;
}

/** The number of a word alone is no change. */
function sameState(a: OrderState, b: OrderState): boolean {
  if (a.kind !== b.kind || inForce(a) !== inForce(b) || placedHere(a) !== placedHere(b)) return false;
  return a.kind !== 'stored' || b.kind !== 'stored' || a.taken?.version === b.taken?.version;
}
