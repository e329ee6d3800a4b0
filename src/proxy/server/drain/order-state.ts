import { type Order, sameTerms } from './order.ts';

/** An agent's word that an order is in force: which instance gave it, and with which number. */
export interface Word {
  readonly instance: string;
  readonly number: number;
}

/** That, and which version of the order it knew. */
export interface Acceptance extends Word {
  readonly version: number;
}

/**
 * What one server knows of the order of one agent ID. The agent is the arbiter: of two orders that it is sent it
 * keeps the first, and tells everybody.
 *
 * - `none`: no order.
 * - `stored`: placed here. `taken` once the agent said so; a Go agent never does.
 * - `behind`: placed here, but the agent was already under another one. It waits, so that it is not lost if that
 *   one vanishes with the agent's process or its server; it ends when that one is ended.
 * - `relayed`: placed elsewhere, known through the agent.
 */
export type OrderState =
  | { readonly kind: 'none' }
  | { readonly kind: 'stored'; readonly order: Order; readonly taken: Acceptance | undefined }
  | { readonly kind: 'behind'; readonly order: Order; readonly inForce: Order; readonly by: Word }
  | { readonly kind: 'relayed'; readonly order: Order; readonly by: Acceptance };

export type OrderInput =
  /** An operator placed or updated it here. */
  | { readonly kind: 'placed'; readonly order: Order }
  | { readonly kind: 'undrained' }
  /** The agent says which order is in force. `ended`: IDs of orders that ended, as far as it or this server knows. */
  | {
      readonly kind: 'announced';
      readonly by: Word;
      readonly order: Order | undefined;
      readonly ended: (id: string) => boolean;
      /** Now, on the clock of deadlines. */
      readonly nowMonoMs: number;
    }
  /** An instance that is not the newest says that an order ended. */
  | { readonly kind: 'ended'; readonly id: string }
  /** An agent connects that is not the instance which was there last. Undefined for a Go agent. */
  | { readonly kind: 'connected'; readonly instance: string | undefined }
  /** The agent is gone for too long. */
  | { readonly kind: 'expired' }
  /** The deadline passed. */
  | { readonly kind: 'overdue' };

/**
 * Why an order ended. `elsewhere`: the agent says so. `superseded`: it waited behind one that was ended. `restart`:
 * another instance connected.
 */
export type EndCause = 'undrain' | 'elsewhere' | 'superseded' | 'restart' | 'expired';

export interface EndedOrder {
  readonly order: Order;
  readonly cause: EndCause;
}

export interface OrderStep {
  readonly state: OrderState;
  readonly ended: readonly EndedOrder[];
}

export const NO_ORDER: OrderState = { kind: 'none' };

/** The order that the agent is under, as far as this server knows. */
export function inForce(state: OrderState): Order | undefined {
  switch (state.kind) {
    case 'none':
      return undefined;
    case 'behind':
      return state.inForce;
    case 'stored':
    case 'relayed':
      return state.order;
  }
}

/** The order that was placed here. */
export function placedHere(state: OrderState): Order | undefined {
  return state.kind === 'stored' || state.kind === 'behind' ? state.order : undefined;
}

/** The one place where the state of an agent's order changes. Pure. */
export function transition(state: OrderState, input: OrderInput): OrderStep {
  switch (input.kind) {
    case 'placed':
      return place(state, input.order);
    case 'undrained':
      return endAll(state, 'undrain');
    case 'announced':
      return announce(state, input);
    case 'ended':
      return end(state, input.id);
    case 'connected':
      return connect(state, input.instance);
    case 'expired':
      return endAll(state, 'expired');
    case 'overdue':
      return same(overdue(state));
  }
}

function place(state: OrderState, order: Order): OrderStep {
  switch (state.kind) {
    case 'none':
      return same({ kind: 'stored', order, taken: undefined });
    case 'stored':
      return same({ kind: 'stored', order, taken: state.order.id === order.id ? state.taken : undefined });
    case 'relayed':
      return same({ kind: 'stored', order, taken: state.order.id === order.id ? state.by : undefined });
    case 'behind': {
      if (state.order.id === order.id) return same({ ...state, order });
      const taken = { ...state.by, version: state.inForce.version };
      return {
        state: { kind: 'stored', order, taken: state.inForce.id === order.id ? taken : undefined },
        ended: [{ order: state.order, cause: 'superseded' }],
      };
    }
  }
}

function endAll(state: OrderState, cause: 'undrain' | 'expired'): OrderStep {
  switch (state.kind) {
    case 'none':
      return same(state);
    case 'stored':
    case 'relayed':
      return { state: NO_ORDER, ended: [{ order: state.order, cause }] };
    case 'behind':
      return {
        state: NO_ORDER,
        ended: [
          { order: state.inForce, cause },
          { order: state.order, cause },
        ],
      };
  }
}

function end(state: OrderState, id: string): OrderStep {
  const own = placedHere(state);
  return own?.id === id ? withoutOwn(state, { order: own, cause: 'elsewhere' }) : same(state);
}

function connect(state: OrderState, instance: string | undefined): OrderStep {
  const own = placedHere(state);
  if (own?.until !== 'restart' || own.instance === instance) {
    // What one process accepted says nothing of the next.
    const anew = state.kind === 'stored' && state.taken !== undefined && state.taken.instance !== instance;
    return same(anew ? { ...state, taken: undefined } : state);
  }
  return withoutOwn(state, { order: own, cause: 'restart' });
}

function withoutOwn(state: OrderState, ended: EndedOrder): OrderStep {
  if (state.kind !== 'behind') return { state: NO_ORDER, ended: [ended] };
  const { inForce, by } = state;
  return { state: { kind: 'relayed', order: inForce, by: accepted(by, inForce) }, ended: [ended] };
}

function overdue(state: OrderState): OrderState {
  switch (state.kind) {
    case 'none':
      return state;
    case 'stored':
    case 'relayed':
      return { ...state, order: { ...state.order, overdue: true } };
    case 'behind':
      return { ...state, inForce: { ...state.inForce, overdue: true } };
  }
}

type Announced = Extract<OrderInput, { kind: 'announced' }>;

function announce(state: OrderState, word: Announced): OrderStep {
  // An end always wins, also over an agent that was not told yet.
  const said = word.order === undefined || word.ended(word.order.id) ? undefined : word.order;
  switch (state.kind) {
    case 'none':
      return same(follow(said, word, undefined));
    case 'relayed': {
      const next = follow(said, word, state);
      const gone = said?.id !== state.order.id && endedBy(word, state.order, state.by);
      return { state: next, ended: gone ? [{ order: state.order, cause: 'elsewhere' }] : [] };
    }
    case 'stored':
      return announceStored(state, word, said);
    case 'behind':
      return announceBehind(state, word, said);
  }
}

function announceStored(
  state: Extract<OrderState, { kind: 'stored' }>,
  word: Announced,
  said: Order | undefined,
): OrderStep {
  const { order, taken } = state;
  if (said?.id === order.id) {
    return same({
      kind: 'stored',
      order: arbitrated(order, said, taken, word.nowMonoMs),
      taken: accepted(word.by, said),
    });
  }
  if (endedBy(word, order, taken)) {
    return { state: follow(said, word, undefined), ended: [{ order, cause: 'elsewhere' }] };
  }
  return same(said === undefined ? state : { kind: 'behind', order, inForce: said, by: word.by });
}

function announceBehind(
  state: Extract<OrderState, { kind: 'behind' }>,
  word: Announced,
  said: Order | undefined,
): OrderStep {
  const { order, inForce, by } = state;
  if (said?.id === order.id) {
    return same({
      kind: 'stored',
      order: arbitrated(order, said, undefined, word.nowMonoMs),
      taken: accepted(word.by, said),
    });
  }
  if (word.ended(order.id)) {
    return { state: follow(said, word, { order: inForce, by }), ended: [{ order, cause: 'elsewhere' }] };
  }
  if (said?.id === inForce.id)
    return same({ ...state, inForce: renewed(said, word, { order: inForce, by }), by: word.by });
  if (endedBy(word, inForce, by)) {
    return {
      state: follow(said, word, undefined),
      ended: [
        { order: inForce, cause: 'elsewhere' },
        { order, cause: 'superseded' },
      ],
    };
  }
  return same(
    said === undefined
      ? { kind: 'stored', order, taken: undefined }
      : { kind: 'behind', order, inForce: said, by: word.by },
  );
}

/** An order that the same instance had and has no more was ended, also when its list of ended ones lost the ID. */
function endedBy(word: Announced, order: Order, last: Word | undefined): boolean {
  return word.ended(order.id) || (last?.instance === word.by.instance && last.number < word.by.number);
}

interface Known {
  readonly order: Order;
  readonly by: Word;
}

function follow(said: Order | undefined, word: Announced, known: Known | undefined): OrderState {
  if (said === undefined) return NO_ORDER;
  return { kind: 'relayed', order: renewed(said, word, known), by: accepted(word.by, said) };
}

/**
 * The known object where the word is of the same version: the first is nearest to its deadline. Another instance may
 * have an older version, or another one with the same number.
 */
function renewed(said: Order, { by, nowMonoMs }: Announced, known: Known | undefined): Order {
  if (known?.order.id !== said.id) return said;
  const isSame =
    known.order.version === said.version &&
    (known.by.instance === by.instance || sameTerms(known.order, said));
  return isSame ? known.order : updated(said, known.order, nowMonoMs);
}

/** A deadline that passed and was acted on does so once, whatever else of the order is changed elsewhere. */
function updated(said: Order, known: Order, nowMonoMs: number): Order {
  const { deadline, atDeadline } = said;
  const passed = deadline !== undefined && deadline.monoMs <= nowMonoMs;
  return known.overdue && passed && atDeadline === known.atDeadline
    ? { ...said, deadline: known.deadline, overdue: true }
    : said;
}

/**
 * Ours, or what the agent has where that is later. Two servers may have given the same version to two updates: then
 * the agent kept the one that came first, and that holds.
 */
function arbitrated(ours: Order, said: Order, taken: Acceptance | undefined, nowMonoMs: number): Order {
  if (said.version < ours.version) return ours;
  if (said.version === ours.version && (taken?.version === said.version || sameTerms(ours, said)))
    return ours;
  return {
    ...updated(said, ours, nowMonoMs),
    instance: ours.until === said.until ? ours.instance : said.instance,
  };
}

function accepted(by: Word, order: Order): Acceptance {
  return { instance: by.instance, number: by.number, version: order.version };
}

function same(state: OrderState): OrderStep {
  return { state, ended: [] };
}
