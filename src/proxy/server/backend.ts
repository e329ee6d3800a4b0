import { Answers } from '../wire/answers.ts';
import { type CloseReason, reasonOfAgent } from '../wire/close-reason.ts';
import type { Feature } from '../wire/extension.ts';
import type { Identifiers } from '../wire/identifiers.ts';
import { Link } from '../wire/link.ts';
import { NO_CONNECT_ID, type Packet, PacketType, type Status } from '../wire/packet.ts';
import type { PacketStream, StreamEnd } from '../wire/packet-stream.ts';
import { closeDial, closeRequest, ping, pong } from '../wire/packets.ts';
import type { ProbeTarget } from '../wire/probe.ts';
import { RecentIds } from '../wire/recent-ids.ts';
import type { Carrier, Tunnel } from './tunnel.ts';

const RESOURCE_EXHAUSTED = 8;
// Go agents answer CLOSE_REQ for a connectID that they never gave out with CLOSE_RSP "Unknown connectID".
const UNUSED_CONNECT_ID = Number.MAX_SAFE_INTEGER;

/** Apart from the numbers of the probe, which count from 1. */
const OWN_PING = Number.MAX_SAFE_INTEGER;

/** A dial, as the backend that was asked sees it. */
export interface BackendDial {
  /** DIAL_RSP with its dial ID. */
  answered(packet: Packet): void;
  /** The agent said that it ended the dial without an answer (DIAL_CLS). */
  droppedByAgent(): void;
  /** The stream is gone. */
  backendLost(): void;
}

/** What a backend tells its owner. */
export interface BackendEvents {
  onLeaving(backend: Backend): void;
  onStatus(backend: Backend, status: Status): void;
  /** A dial that nobody waits for any more was answered after all. */
  onLateAnswer(backend: Backend): void;
  onEnd(backend: Backend, end: StreamEnd): void;
  /** A DIAL_RSP for a dial that nobody waits for. */
  onUnknownAnswer(backend: Backend): void;
}

/** What is known of an agent's stream when it is opened. */
export interface BackendIdentity {
  readonly agentId: string;
  readonly identifiers: Identifiers;
  /** kts-instance; undefined for a Go agent. */
  readonly instance: string | undefined;
  readonly version: string | undefined;
  readonly features: ReadonlySet<Feature>;
  /** The agent's address, for people. */
  readonly remote: string;
  readonly connectedAtMs: number;
}

/**
 * One live `Connect` stream of an agent, with the dials and tunnels that run over it. Its packet loop never waits:
 * what belongs to one tunnel is handed to that tunnel and may pause only that tunnel's source.
 */
export class Backend implements Carrier, BackendIdentity, ProbeTarget {
  readonly agentId: string;
  readonly identifiers: Identifiers;
  readonly instance: string | undefined;
  readonly version: string | undefined;
  readonly features: ReadonlySet<Feature>;
  readonly remote: string;
  readonly connectedAtMs: number;
  readonly dials = new Map<bigint, BackendDial>();
  readonly tunnels = new Map<number, Tunnel>();
  /** The last STATUS of our agent. */
  status: Status | undefined;
  /** Since when it says that it shuts down (STATUS, or DRAIN); undefined while it does not. Not an order. */
  leavingSinceUnixMs: number | undefined;
  /** Set by every packet, cleared by the probe: whether the agent was heard since the last look. */
  heard = true;
  /** Set while a probe is unanswered: called for the next packet of any kind. */
  onHeard: ((packet: Packet) => void) | undefined;
  readonly link: Link;
  readonly #stream: PacketStream;
  readonly #events: BackendEvents;
  readonly #closed = new RecentIds<number>();
  /** Dials that were taken back, until the agent's answer: a dial with such an ID could get the answer of the other. */
  readonly #withdrawn = new RecentIds<bigint>();
  readonly #answers: Answers;
  /** When the last tunnel ended, on performance.now()'s clock. */
  lastTunnelEndMs = Number.NEGATIVE_INFINITY;
  /** When it was last chosen for a dial, on performance.now()'s clock. */
  lastChosenMs = Number.NEGATIVE_INFINITY;
  dialsGiven = 0;
  /** Payload of its tunnels that ended. */
  endedBytesToNode = 0;
  endedBytesFromNode = 0;
  #onOwnPong: (() => void) | undefined;
  #ended = false;

  constructor(identity: BackendIdentity, stream: PacketStream, events: BackendEvents) {
    this.agentId = identity.agentId;
    this.identifiers = identity.identifiers;
    this.instance = identity.instance;
    this.version = identity.version;
    this.features = identity.features;
    this.remote = identity.remote;
    this.connectedAtMs = identity.connectedAtMs;
    this.#stream = stream;
    this.link = new Link(stream, 'server', identity.features.has('flow'));
    this.#events = events;
    this.#answers = new Answers(
      (frame) => this.sendFrame(frame),
      () => this.abort(RESOURCE_EXHAUSTED, 'the agent does not read what it asks for'),
    );
    stream.attach({
      onPacket: (packet) => this.#onPacket(packet),
      onDrain: () => {
        this.#answers.drained();
        this.link.drained();
      },
      onEnd: (end) => this.#onEnd(end),
    });
  }

  get ours(): boolean {
    return this.features.has('status');
  }

  /** Announces itself by STATUS before it may be chosen. */
  get announces(): boolean {
    return this.ours;
  }

  /** Dials and tunnels on this stream: the load by which least-loaded choice goes. */
  get load(): number {
    return this.dials.size + this.tunnels.size;
  }

  get leaving(): boolean {
    return this.leavingSinceUnixMs !== undefined;
  }

  /** An operator does not believe a Go agent's DRAIN. */
  clearLeaving(): void {
    this.leavingSinceUnixMs = undefined;
  }

  get open(): boolean {
    return !this.#ended;
  }

  send(packet: Packet): boolean {
    return this.link.send(packet);
  }

  /** Sends what the agent's own packets cause: one that asks on and does not read loses its stream. */
  answer(packet: Packet): void {
    this.#answers.send(packet);
  }

  sendFrame(frame: Buffer): boolean {
    return this.#stream.sendFrame(frame);
  }

  ask(number: number, answered: (roundTripMs: number) => void): boolean {
    if (this.features.has('ping')) this.send(ping(number));
    else if (!this.#stream.ping(answered)) this.send(closeRequest(UNUSED_CONNECT_ID));
    return true;
  }

  isAnswer(packet: Packet, number: number): boolean {
    return packet.type === PacketType.PONG
      ? packet.amount === number
      : packet.type === PacketType.CLOSE_RSP && packet.connectId === UNUSED_CONNECT_ID;
  }

  /** Whether a dial of that ID is pending here, or was taken back and is not answered yet. */
  hasDial(id: bigint): boolean {
    return this.dials.has(id) || this.#withdrawn.has(id);
  }

  /** Takes a pending dial back from the agent, which then stops connecting. A late answer is closed. */
  withdraw(id: bigint): void {
    if (!this.dials.delete(id)) return;
    this.#withdrawn.add(id);
    this.send(closeDial(id));
  }

  /** Registers an established tunnel. */
  add(tunnel: Tunnel): void {
    this.tunnels.set(tunnel.connectId, tunnel);
  }

  /** Forgets an ended tunnel; its connectID is remembered for a while as closed. */
  remove(tunnel: Tunnel): void {
    if (this.tunnels.get(tunnel.connectId) !== tunnel) return;
    this.tunnels.delete(tunnel.connectId);
    this.#closed.add(tunnel.connectId);
    this.lastTunnelEndMs = performance.now();
  }

  /** Calls back when the agent has received all that was sent so far, or its stream ended. */
  whenHeard(heard: () => void): void {
    this.#onOwnPong = heard;
    if (this.features.has('ping')) this.send(ping(OWN_PING));
    else if (!this.#stream.ping(heard)) heard();
  }

  /** Ends the stream in order: everything sent goes first. */
  end(): void {
    this.#stream.end();
  }

  /** Ends the stream at once with a gRPC status. */
  abort(code: number, details: string): void {
    this.#stream.abort(code, details);
  }

  #onPacket(packet: Packet): void {
    this.heard = true;
    if (this.onHeard !== undefined) this.onHeard(packet);
    switch (packet.type) {
      case PacketType.DATA: {
        const tunnel = this.tunnels.get(packet.connectId);
        this.link.received(packet.data.length);
        if (tunnel !== undefined) tunnel.fromBackend(packet);
        else if (!this.#closed.has(packet.connectId)) this.refuse(packet.connectId);
        return;
      }
      case PacketType.WINDOW:
        if (packet.connectId === 0) this.link.granted(packet.amount);
        else this.tunnels.get(packet.connectId)?.granted(packet.amount);
        return;
      case PacketType.DIAL_RSP: {
        const dial = this.dials.get(packet.dialId);
        if (dial !== undefined) {
          dial.answered(packet);
          return;
        }
        this.#lateAnswer(packet.dialId);
        this.#events.onUnknownAnswer(this);
        // Nobody waits for it any more: without this the endpoint would stay open for ever.
        if (packet.error === '' && !this.tunnels.has(packet.connectId)) this.refuse(packet.connectId);
        return;
      }
      case PacketType.CLOSE_RSP:
        this.#onCloseResponse(packet);
        return;
      case PacketType.CLOSE_REQ:
        // Not in the protocol in this direction, but its meaning is plain.
        this.tunnels.get(packet.connectId)?.backendEnded('endpoint-closed', '');
        return;
      case PacketType.DIAL_CLS: {
        const dial = this.dials.get(packet.dialId);
        if (dial !== undefined) dial.droppedByAgent();
        else this.#lateAnswer(packet.dialId);
        return;
      }
      case PacketType.DRAIN:
        this.#leave();
        return;
      case PacketType.STATUS:
        if (packet.status === null || !this.features.has('status')) return;
        this.status = packet.status;
        if (packet.status.leaving) this.#leave();
        this.#events.onStatus(this, packet.status);
        return;
      case PacketType.PING:
        if (this.features.has('ping')) this.#answers.send(pong(packet.amount));
        return;
      case PacketType.PONG:
        if (packet.amount === OWN_PING) this.#onOwnPong?.();
        return;
      default:
    }
  }

  #onCloseResponse(packet: Packet): void {
    this.tunnels.get(packet.connectId)?.backendEnded(reasonOfAgent(packet.error, this.ours), packet.error);
  }

  /** This stream, not the agent ID, is draining from now on. Idempotent. */
  #leave(): void {
    if (this.leaving) return;
    this.leavingSinceUnixMs = Date.now();
    this.#events.onLeaving(this);
  }

  /** Has the agent close an endpoint that nobody here knows. */
  refuse(connectId: number): void {
    if (connectId === NO_CONNECT_ID) return;
    this.#closed.add(connectId);
    this.#answers.send(closeRequest(connectId));
  }

  /** An answer is an answer, also behind the time-out: an agent that is merely slow is not stuck. */
  #lateAnswer(dialId: bigint): void {
    if (this.#withdrawn.delete(dialId)) this.#events.onLateAnswer(this);
  }

  #onEnd(end: StreamEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onOwnPong?.();
    // Out of the pools first, so that no retry of its dials can choose it again.
    this.#events.onEnd(this, end);
    const reason: CloseReason = end.cause === 'malformed' ? 'malformed-packet' : 'agent-lost';
    for (const dial of [...this.dials.values()]) dial.backendLost();
    for (const tunnel of [...this.tunnels.values()]) {
      tunnel.backendEnded(reason, `agent ${this.agentId} disconnected`);
    }
    this.dials.clear();
    this.link.end();
    // A client that half-closed still waits for the status.
    if (end.cause === 'half-close') this.#stream.end();
  }
}
