import type { Descriptors } from '../ops/descriptors.ts';
import type { Buffers } from '../wire/buffers.ts';
import type { CloseReason } from '../wire/close-reason.ts';
import type { Packet } from '../wire/packet.ts';
import type { Backend, BackendDial } from './backend.ts';
import {
  agentLost,
  badAnswer,
  clientGone,
  type DialFailure,
  dialTimeout,
  droppedByAgent,
  duplicateDialId,
  noAgent,
  outOfDescriptors,
  refusedByAgent,
  stopping,
} from './dial-failure.ts';
import type { Frontend, FrontendDial } from './frontend.ts';
import type { Chosen } from './selection/selection.ts';
import type { StrategyName } from './selection/strategy-name.ts';
import { Tunnel } from './tunnel.ts';

/** What dials share: how to choose, how long to wait, whom to tell. */
export interface DialContext {
  /** Chooses a backend, never one of those in `exclude`. `undefined`: nobody can serve the address. */
  choose(address: string, exclude: readonly Backend[]): Chosen<Backend> | undefined;
  /**
   * After a substitute from a later strategy answered with an error: the draining agent of an earlier strategy that
   * is worth the retry, if there is one.
   */
  chooseAfterSubstitute(address: string, failed: Chosen<Backend>): Chosen<Backend> | undefined;
  /** False once the server stops: new dials are refused. */
  accepting(): boolean;
  /** For both attempts together; 0 = no limit (upstream's --backend-dial-timeout). */
  readonly timeoutMs: number;
  readonly buffers: Buffers;
  readonly halfCloseTimeoutMs: number;
  readonly descriptors: Descriptors;
  now(): number;
  /** Counts dials; a tunnel has the number of its dial. */
  nextNumber(): number;
  onStart(dial: Dial): void;
  onChosen(dial: Dial, choice: Chosen<Backend>): void;
  /** An answer of any kind came, or (false) none within the time-out. */
  onAnswer(backend: Backend, answered: boolean): void;
  onEstablished(dial: Dial, tunnel: Tunnel): void;
  onFailed(dial: Dial, failure: DialFailure): void;
  onCancelled(dial: Dial): void;
  readonly onTunnelEnd: (backend: Backend, tunnel: Tunnel, reason: CloseReason) => void;
}

/**
 * A DIAL_REQ not yet answered. It always ends: answered, failed with a reason, or cancelled; after at most one retry.
 * Keyed by (backend, dial ID), since IDs come from clients and may repeat.
 */
export class Dial implements BackendDial, FrontendDial {
  readonly id: bigint;
  readonly number: number;
  readonly address: string;
  readonly frontend: Frontend;
  readonly startedAtMs: number;
  readonly #context: DialContext;
  readonly #request: Buffer;
  readonly #tried: Backend[] = [];
  #choice: Chosen<Backend> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #done = false;

  /** @param request the DIAL_REQ as a gRPC frame, passed on as it stands */
  constructor(context: DialContext, frontend: Frontend, id: bigint, address: string, request: Buffer) {
    this.#context = context;
    this.frontend = frontend;
    this.id = id;
    this.number = context.nextNumber();
    this.address = address;
    this.#request = request;
    this.startedAtMs = context.now();
  }

  get backend(): Backend | undefined {
    return this.#choice?.stream;
  }

  /** Under which the last choice was made. */
  get strategy(): StrategyName | undefined {
    return this.#choice?.strategy;
  }

  /** Chooses a backend and asks it. Every later event comes through the frontend's or the backend's calls. */
  start(): void {
    const { timeoutMs } = this.#context;
    this.#context.onStart(this);
    if (!this.#context.accepting()) {
      this.#fail(stopping(this.address));
      return;
    }
    if (this.#context.descriptors.refuses()) {
      this.#fail(outOfDescriptors(this.address, this.#context.descriptors.limit));
      return;
    }
    const choice = this.#context.choose(this.address, this.#tried);
    if (choice === undefined) {
      this.#fail(noAgent(this.address));
      return;
    }
    if (timeoutMs > 0) this.#timer = setTimeout(() => this.#timedOut(), timeoutMs);
    this.#ask(choice);
  }

  answered(packet: Packet): void {
    const choice = this.#choice;
    if (this.#done || choice === undefined) return;
    const backend = choice.stream;
    backend.dials.delete(this.id);
    this.#context.onAnswer(backend, true);
    if (packet.error !== '') this.#refused(choice, packet.error);
    else if (packet.connectId <= 0) {
      this.#fail(badAnswer(this.address, backend.agentId, 'answered without a usable connectID'));
    } else if (backend.tunnels.has(packet.connectId)) {
      // The two could not be told apart from here on, so neither may go on.
      backend.tunnels.get(packet.connectId)?.close('protocol-error');
      this.#fail(badAnswer(this.address, backend.agentId, 'answered with a connectID that is in use'));
    } else if (!this.frontend.open) {
      backend.refuse(packet.connectId);
      this.#fail(clientGone(this.address));
    } else this.#establish(choice, packet);
  }

  droppedByAgent(): void {
    const backend = this.backend;
    if (this.#done || backend === undefined) return;
    backend.dials.delete(this.id);
    this.#context.onAnswer(backend, true);
    this.#fail(droppedByAgent(this.address, backend.agentId));
  }

  backendLost(): void {
    const backend = this.backend;
    if (this.#done || backend === undefined) return;
    const failure = agentLost(this.address, backend.agentId);
    const next = this.#mayRetry() ? this.#context.choose(this.address, this.#tried) : undefined;
    if (next !== undefined) this.#ask(next);
    else this.#fail(failure);
  }

  cancel(): void {
    if (this.#done) return;
    this.#finish();
    this.#withdraw();
    this.#context.onCancelled(this);
  }

  #ask(choice: Chosen<Backend>): void {
    const backend = choice.stream;
    this.#choice = choice;
    this.#tried.push(backend);
    if (backend.hasDial(this.id)) {
      this.#choice = undefined;
      this.#fail(duplicateDialId(this.address));
      return;
    }
    backend.dials.set(this.id, this);
    this.#context.onChosen(this, choice);
    backend.link.sendHurried(this.#request);
  }

  #mayRetry(): boolean {
    return this.#tried.length === 1 && this.#context.accepting();
  }

  #refused(choice: Chosen<Backend>, error: string): void {
    const next = this.#mayRetry() ? this.#context.chooseAfterSubstitute(this.address, choice) : undefined;
    if (next !== undefined && !this.#tried.includes(next.stream)) this.#ask(next);
    else this.#fail(refusedByAgent(error));
  }

  #establish(choice: Chosen<Backend>, packet: Packet): void {
    const backend = choice.stream;
    this.#finish();
    // Out here, so that a tunnel does not keep its dial.
    const { onTunnelEnd } = this.#context;
    const tunnel = new Tunnel({
      carrier: backend,
      number: this.number,
      strategy: choice.strategy,
      connectId: packet.connectId,
      dialId: this.id,
      address: this.address,
      frontend: this.frontend,
      startedAtMs: this.#context.now(),
      buffers: this.#context.buffers,
      halfCloseTimeoutMs: this.#context.halfCloseTimeoutMs,
      onEnd: (ended, reason) => {
        backend.remove(ended);
        onTunnelEnd(backend, ended, reason);
      },
    });
    backend.add(tunnel);
    this.#context.onEstablished(this, tunnel);
    this.frontend.dialed(tunnel, packet);
  }

  #timedOut(): void {
    const backend = this.backend;
    if (this.#done || backend === undefined) return;
    this.#withdraw();
    this.#context.onAnswer(backend, false);
    this.#fail(dialTimeout(this.address, backend.agentId, this.#context.timeoutMs));
  }

  #withdraw(): void {
    const backend = this.backend;
    if (backend?.dials.get(this.id) === this) backend.withdraw(this.id);
  }

  #fail(failure: DialFailure): void {
    this.#finish();
    this.#context.onFailed(this, failure);
    this.frontend.dialFailed(this.id, failure);
  }

  #finish(): void {
    this.#done = true;
    clearTimeout(this.#timer);
  }
}
