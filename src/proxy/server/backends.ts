import type { Log } from '../ops/log.ts';
import { blankStatus, type Status } from '../wire/packet.ts';
import type { PacketStream, StreamEnd } from '../wire/packet-stream.ts';
import { status as statusPacket } from '../wire/packets.ts';
import { Probe, type ProbeTimes } from '../wire/probe.ts';
import type { AgentChanges } from './agent-changes.ts';
import { Backend, type BackendIdentity } from './backend.ts';
import type { EventFields, EventType } from './event-log.ts';
import { replacementsOf } from './replacements.ts';
import type { Pool } from './selection/pool.ts';
import { Selector, type SelectorOptions } from './selection/selector.ts';
import type { StrategyName } from './selection/strategies.ts';
import { StreamRegistry } from './selection/stream-registry.ts';
import { SiblingProbes } from './sibling-probes.ts';

const UNAVAILABLE = 14;
/** Dials in a row without any answer that make a stream suspect. */
const UNANSWERED_DIALS = 3;
/** Changes within this time are told to draining agents at once. */
const TELL_AFTER_MS = 50;

/** Drain orders, as far as streams are concerned. Everything is synchronous. */
export interface StreamOrders {
  /** A stream is about to be registered. @returns whether an order makes it draining from its first instant */
  connecting(backend: Backend): boolean;
  /** A stream is one that stays. */
  joined(backend: Backend): void;
  /** A STATUS arrived: marks come before the first one makes the stream choosable. */
  heard(backend: Backend, status: Status): void;
  /** A stream is registered no more. */
  disconnected(backend: Backend): void;
}

/** What the set of backends is made of. */
export interface BackendsOptions {
  readonly strategies: readonly StrategyName[];
  readonly selection: SelectorOptions<Backend>;
  readonly secondStreamWaitMs: number;
  readonly probeTimes: ProbeTimes;
  /** Who knows of drain orders. */
  readonly orders: StreamOrders;
  readonly changes: AgentChanges;
  onEvent(type: EventType, fields: EventFields): void;
  /** An agent answered a dial that nobody waits for. */
  onUnknownAnswer(): void;
  readonly log: Log;
}

/** What is kept of one backend beside itself. */
interface Watch {
  readonly probe: Probe;
  late: boolean;
  unansweredDials: number;
  /** The last `replacements` that this stream was told; -1: none since its agent began to drain, or drains anew. */
  toldReplacements: number;
  /** Why its agent drains, by its own word: `leaving`, the ID of the order, or empty. */
  drainsFor: string;
  /** Since when it says so, on performance.now()'s clock. */
  drainsSinceMs: number;
  /** It was told as connected: not so a stream that its agent closes again at once. */
  joined: boolean;
}

/**
 * All live agent streams: registered for selection, probed, and marked. Every method is synchronous, so marking,
 * choosing and registering can never interleave.
 */
export class Backends {
  readonly selector: Selector<Backend>;
  readonly registry: StreamRegistry<Backend>;
  readonly #options: BackendsOptions;
  readonly #log: Log;
  readonly #watches = new Map<Backend, Watch>();
  readonly #siblings: SiblingProbes<Backend>;
  /** Streams of Go agents that may be closed again at once: not told as connected yet. */
  readonly #waiting = new Set<Backend>();
  /** Streams of our agents that drain: they are told how many could replace them. */
  readonly #draining = new Set<Backend>();
  #advanceTimer: NodeJS.Timeout | undefined;
  #tellTimer: NodeJS.Timeout | undefined;

  constructor(options: BackendsOptions) {
    this.#options = options;
    this.#log = options.log;
    this.#siblings = new SiblingProbes(
      (backend) => this.#watches.get(backend)?.probe,
      options.probeTimes.urgentSuspectMs,
    );
    const pool = (changed: Pool): { strategy: string; key?: string } => ({
      strategy: changed.strategy,
      ...(changed.key === '' ? {} : { key: changed.key }),
    });
    this.registry = new StreamRegistry<Backend>({
      strategies: options.strategies,
      now: () => performance.now(),
      secondStreamWaitMs: options.secondStreamWaitMs,
      events: {
        onPoolOutOfReady: (changed) => {
          this.#log.info(2, 'A pool is out of ready agents', pool(changed));
          this.#event('pool-out-of-ready', undefined, `no agent is ready for ${poolText(changed)}`);
        },
        onPoolReadyAgain: (changed) => {
          this.#log.info(2, 'A pool has a ready agent again', pool(changed));
          this.#event('pool-ready-again', undefined, `an agent is ready again for ${poolText(changed)}`);
        },
        onAllOutOfReady: () => {
          this.#log.info(2, 'No agent is ready: dials go to draining or suspect ones, if any');
          this.#event('all-out-of-ready', undefined, 'no agent is ready at all');
        },
        onAllReadyAgain: () => {
          this.#log.info(2, 'There is a ready agent again');
          this.#event('all-ready-again', undefined, 'there is a ready agent again');
        },
      },
    });
    this.selector = new Selector(this.registry, options.selection);
  }

  get size(): number {
    return this.#watches.size;
  }

  all(): IterableIterator<Backend> {
    return this.#watches.keys();
  }

  /** The last measured round trip of a backend's stream, in milliseconds. */
  roundTripMs(backend: Backend): number | undefined {
    return this.#watches.get(backend)?.probe.roundTripMs;
  }

  /** A probe of its stream is unanswered for too long. */
  isLate(backend: Backend): boolean {
    return this.#watches.get(backend)?.late ?? false;
  }

  /**
   * Since when its agent itself says that it drains, and so tells all its servers, on performance.now()'s clock;
   * undefined while it does not.
   */
  drainsSinceMs(backend: Backend): number | undefined {
    const watch = this.#watches.get(backend);
    return watch === undefined || watch.drainsFor === '' ? undefined : watch.drainsSinceMs;
  }

  /** It leaves dials unanswered. */
  isUnresponsive(backend: Backend): boolean {
    return (this.#watches.get(backend)?.unansweredDials ?? 0) >= UNANSWERED_DIALS;
  }

  isSuspect(backend: Backend): boolean {
    return this.registry.stateOf(backend)?.suspect ?? false;
  }

  /** Takes over a new stream. It is registered in the same step in which its packets begin to flow. */
  add(identity: BackendIdentity, stream: PacketStream): Backend {
    const backend = new Backend(identity, stream, {
      onLeaving: (leaving) => this.#onLeaving(leaving),
      onStatus: (sender, status) => this.#onStatus(sender, status),
      onLateAnswer: (sender) => this.dialAnswered(sender, true),
      onEnd: (ended, end) => this.#remove(ended, end),
      onUnknownAnswer: () => this.#options.onUnknownAnswer(),
    });
    const probe = new Probe(backend, this.#options.probeTimes, {
      onSuspect: (suspect) => this.#onLate(backend, suspect),
      onDead: () => {
        this.#log.warning('Agent does not answer: its stream is given up', who(backend));
        backend.abort(UNAVAILABLE, 'the agent does not answer');
      },
      onMeasured: () => this.#options.changes.touch(backend.agentId),
    });
    this.#watches.set(backend, {
      probe,
      late: false,
      unansweredDials: 0,
      toldReplacements: -1,
      drainsFor: '',
      drainsSinceMs: 0,
      joined: false,
    });
    this.#siblings.add(backend.agentId, backend);
    this.registry.register(backend, { draining: this.#options.orders.connecting(backend) });
    // An agent that looks for further servers opens streams to known ones and closes them at once: those are no news.
    this.#log.info(this.#siblings.count(backend.agentId) > 1 ? 3 : 1, 'Agent connected', {
      ...who(backend),
      version: backend.version ?? 'go',
    });
    if (!backend.announces) this.#waiting.add(backend);
    this.#scheduleAdvance();
    this.#options.changes.touchReadiness(backend.agentId);
    return backend;
  }

  #tellJoined(backend: Backend): void {
    const watch = this.#watches.get(backend);
    if (watch === undefined || watch.joined) return;
    watch.joined = true;
    this.#waiting.delete(backend);
    this.#options.orders.joined(backend);
    this.#event('agent-connected', backend, `connected from ${backend.remote}`);
  }

  /** A dial goes to this backend. */
  dialGiven(backend: Backend): void {
    this.#watches.get(backend)?.probe.awaited();
  }

  /** A dial to this backend was answered, or timed out. */
  dialAnswered(backend: Backend, answered: boolean): void {
    const watch = this.#watches.get(backend);
    if (watch === undefined) return;
    watch.unansweredDials = answered ? 0 : watch.unansweredDials + 1;
    if (watch.unansweredDials === UNANSWERED_DIALS) {
      this.#log.warning('Agent leaves dials unanswered: it is chosen last', who(backend));
      this.#event('agent-unresponsive', backend, `${UNANSWERED_DIALS} dials in a row were not answered`);
    }
    this.#markSuspect(backend, watch);
  }

  /** Ends every stream in order. */
  endAll(): void {
    clearTimeout(this.#advanceTimer);
    clearTimeout(this.#tellTimer);
    for (const backend of [...this.#watches.keys()]) backend.end();
  }

  #onLate(backend: Backend, late: boolean): void {
    const watch = this.#watches.get(backend);
    if (watch === undefined) return;
    watch.late = late;
    if (late) {
      this.#log.warning('Agent is late to answer a probe: it is chosen last', who(backend));
      this.#event('agent-late', backend, 'does not answer a probe in time');
    } else {
      this.#log.info(1, 'Agent answers again', who(backend));
      this.#event('agent-answers-again', backend, 'answers again');
    }
    this.#markSuspect(backend, watch);
  }

  #markSuspect(backend: Backend, watch: Watch): void {
    this.registry.markSuspect(backend, watch.late || watch.unansweredDials >= UNANSWERED_DIALS);
    this.#options.changes.touchReadiness(backend.agentId);
    this.#tellDraining();
  }

  #onLeaving(backend: Backend): void {
    this.registry.markDraining(backend);
    this.#heardDrain(backend, 'leaving');
    this.#log.info(1, 'Agent drains: new dials go to others', {
      ...who(backend),
      tunnels: backend.tunnels.size,
    });
    this.#event('agent-leaving', backend, 'says that it shuts down');
    this.#tellDraining();
  }

  #onStatus(backend: Backend, status: Status): void {
    this.#options.orders.heard(backend, status);
    this.#options.changes.touch(backend.agentId);
    this.#heardDrain(backend, backend.leaving ? 'leaving' : (status.order?.id ?? ''));
    if (this.registry.stateOf(backend)?.announced === true) return;
    this.registry.markChoosable(backend);
    this.#tellJoined(backend);
    this.#options.changes.touchReadiness(backend.agentId);
    this.#tellDraining();
  }

  /** An agent forgets what it was told of an earlier drain, so that its word is never about that. */
  #heardDrain(backend: Backend, drainsFor: string): void {
    const watch = this.#watches.get(backend);
    if (watch === undefined || !backend.ours || watch.drainsFor === drainsFor) return;
    watch.drainsFor = drainsFor;
    watch.drainsSinceMs = performance.now();
    watch.toldReplacements = -1;
    if (drainsFor === '') this.#draining.delete(backend);
    else this.#draining.add(backend);
    this.#tellDraining();
  }

  /** Several changes in a row cause one look. */
  #tellDraining(): void {
    if (this.#draining.size === 0 || this.#tellTimer !== undefined) return;
    this.#tellTimer = setTimeout(() => {
      this.#tellTimer = undefined;
      for (const backend of this.#draining) this.#tell(backend);
    }, TELL_AFTER_MS).unref();
  }

  #tell(backend: Backend): void {
    const watch = this.#watches.get(backend);
    const replacements = replacementsOf(this.registry, backend);
    if (watch === undefined || replacements === watch.toldReplacements) return;
    watch.toldReplacements = replacements;
    backend.answer(statusPacket({ ...blankStatus(), replacements }));
  }

  #remove(backend: Backend, end: StreamEnd): void {
    const watch = this.#watches.get(backend);
    if (watch === undefined) return;
    watch.probe.stop();
    this.#watches.delete(backend);
    this.#draining.delete(backend);
    this.#waiting.delete(backend);
    this.#siblings.remove(backend.agentId, backend);
    this.registry.remove(backend);
    this.#options.orders.disconnected(backend);
    this.#scheduleAdvance();
    this.#log.info(watch.joined ? 1 : 3, 'Agent disconnected', {
      ...who(backend),
      cause: end.cause,
      reason: end.details || undefined,
      tunnels: backend.tunnels.size,
      pendingDials: backend.dials.size,
    });
    if (watch.joined) this.#event('agent-disconnected', backend, disconnectText(backend, end));
    else this.#options.changes.touchReadiness(backend.agentId);
    this.#tellDraining();
  }

  #event(type: EventType, backend: Backend | undefined, message: string): void {
    if (backend === undefined) {
      this.#options.onEvent(type, { message });
      return;
    }
    this.#options.changes.touchReadiness(backend.agentId);
    this.#options.onEvent(type, { agent: backend.agentId, message: `${backend.agentId} ${message}` });
  }

  /** Second streams become choosable by time alone: a timer makes that happen, and its log line, on time. */
  #scheduleAdvance(): void {
    clearTimeout(this.#advanceTimer);
    // A choice may have advanced the registry before the timer.
    for (const backend of this.#waiting) {
      if (this.registry.stateOf(backend)?.settled === true) this.#tellJoined(backend);
    }
    const atMs = this.registry.nextChangeAtMs;
    if (atMs === undefined) return;
    this.#advanceTimer = setTimeout(
      () => {
        this.registry.advance();
        this.#scheduleAdvance();
      },
      Math.max(1, atMs - performance.now()),
    ).unref();
  }
}

function who(backend: Backend): { agentID: string; remote: string } {
  return { agentID: backend.agentId, remote: backend.remote };
}

function poolText(pool: Pool): string {
  return pool.key === '' ? `the strategy ${pool.strategy}` : `${pool.key} (${pool.strategy})`;
}

function disconnectText(backend: Backend, end: StreamEnd): string {
  const left = backend.tunnels.size === 0 ? '' : `, with ${backend.tunnels.size} tunnels`;
  return `disconnected (${end.cause}${end.details === '' ? '' : `: ${end.details}`})${left}`;
}
