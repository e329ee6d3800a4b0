import type { Buffers } from '../wire/buffers.ts';
import { type CloseReason, isAbnormal } from '../wire/close-reason.ts';
import type { Feature } from '../wire/extension.ts';
import { Inflow, type InflowOwner } from '../wire/flow.ts';
import type { Link } from '../wire/link.ts';
import type { Packet } from '../wire/packet.ts';
import { closeRequest, halfClose, window } from '../wire/packets.ts';
import { TunnelSender } from '../wire/tunnel-sender.ts';
import type { Frontend, FrontendTunnel } from './frontend.ts';
import type { StrategyName } from './selection/strategy-name.ts';

/** The agent's stream, as a tunnel sees it. */
export interface Carrier {
  readonly features: ReadonlySet<Feature>;
  readonly link: Link;
}

/** What a tunnel is made of. */
export interface TunnelParts {
  readonly carrier: Carrier;
  /** Counts the dials and tunnels of this server; its ID for operators is made of it. */
  readonly number: number;
  /** Under which its agent was found. */
  readonly strategy: StrategyName;
  readonly connectId: number;
  readonly dialId: bigint;
  readonly address: string;
  readonly frontend: Frontend;
  readonly startedAtMs: number;
  readonly buffers: Buffers;
  /** How long the node may be silent after the client ended its side; the client may be gone altogether. */
  readonly halfCloseTimeoutMs: number;
  /** Told once, before either side is. */
  readonly onEnd: (tunnel: Tunnel, reason: CloseReason) => void;
}

/** What is known of a tunnel's bytes by looking at their count now and then. */
export interface TunnelSample {
  bytes: number;
  /** When they were last seen to have grown, on performance.now()'s clock. */
  lastByteMs: number;
  bytesPerSecond: number;
}

/**
 * An established connection frontend <-> backend/connectID. It belongs to the backend object, never to the agent ID,
 * so two streams of one agent can never mix bytes.
 */
export class Tunnel implements FrontendTunnel, InflowOwner {
  readonly number: number;
  readonly strategy: StrategyName;
  readonly connectId: number;
  readonly dialId: bigint;
  readonly address: string;
  readonly frontend: Frontend;
  readonly startedAtMs: number;
  bytesFromNode = 0;
  /** Of the last look of whoever samples tunnels; no packet reads a clock. */
  readonly sample: TunnelSample;
  readonly #link: Link;
  readonly #inflow: Inflow;
  readonly #toNode: TunnelSender;
  readonly #onEnd: (tunnel: Tunnel, reason: CloseReason) => void;
  readonly #halfClose: boolean;
  readonly #halfCloseTimeoutMs: number;
  #closeReason: CloseReason | undefined;
  #grantedBytes = 0;
  #silence: NodeJS.Timeout | undefined;

  constructor(parts: TunnelParts) {
    const { connectId } = parts;
    const { link, features } = parts.carrier;
    this.number = parts.number;
    this.strategy = parts.strategy;
    this.sample = { bytes: 0, lastByteMs: parts.startedAtMs, bytesPerSecond: 0 };
    this.connectId = connectId;
    this.dialId = parts.dialId;
    this.address = parts.address;
    this.frontend = parts.frontend;
    this.startedAtMs = parts.startedAtMs;
    this.#onEnd = parts.onEnd;
    this.#halfClose = features.has('half-close');
    this.#halfCloseTimeoutMs = parts.halfCloseTimeoutMs;
    const flow = features.has('flow');
    this.#toNode = new TunnelSender(link, connectId, flow, parts.frontend);
    this.#link = link;
    this.#inflow = new Inflow(this, parts.buffers, flow);
  }

  get bytesToNode(): number {
    return this.#toNode.bytes;
  }

  /** Whether its frontend is not read, because the way to the node is full. */
  get paused(): boolean {
    return this.#toNode.pausedSinceMs !== undefined;
  }

  /** Since when its frontend is not read, on performance.now()'s clock; undefined while it is. */
  get pausedSinceMs(): number | undefined {
    return this.#toNode.pausedSinceMs;
  }

  get bufferedBytes(): number {
    return this.frontend.bufferedBytes;
  }

  sendGrant(bytes: number): void {
    this.#link.send(window(this.connectId, bytes));
  }

  onSlowConsumer(): void {
    this.close('slow-consumer');
  }

  onSlowTail(): void {
    this.frontend.dropTail();
  }

  onOverrun(): void {
    this.close('protocol-error');
  }

  get closeReason(): CloseReason | undefined {
    return this.#closeReason;
  }

  /** DATA from the agent. */
  fromBackend(packet: Packet): void {
    // A DATA packet without bytes reads as the end of the stream in Go's client: never passed on.
    const bytes = packet.data.length;
    if (bytes === 0 || this.#closeReason !== undefined) return;
    this.bytesFromNode += bytes;
    this.frontend.data(packet);
    this.#inflow.received(bytes, this.frontend.bufferedBytes);
  }

  fromFrontend(chunk: Buffer): void {
    if (this.#closeReason === undefined) this.#toNode.data(chunk);
  }

  sendToNode(frame: Buffer, bytes: number): void {
    if (this.#closeReason === undefined) this.#toNode.frame(frame, bytes);
  }

  /** WINDOW from the agent: a grant, or (0) the word that it used all it had. */
  granted(bytes: number): void {
    if (bytes === 0) {
      this.#inflow.senderBlocked(this.frontend.bufferedBytes);
      return;
    }
    this.#grantedBytes += bytes;
    this.#toNode.granted(bytes);
  }

  frontendDrained(): void {
    this.#inflow.progressed(this.frontend.bufferedBytes);
  }

  frontendClosed(): void {
    this.#inflow.dropped();
  }

  frontendEnding(): void {
    if (this.#closeReason !== undefined) return;
    let seen = this.#signsOfLife;
    // A client that is gone altogether looks the same until something is written to it.
    this.#silence = setInterval(() => {
      const now = this.#signsOfLife;
      if (now === seen && this.frontend.bufferedBytes === 0) this.close('half-close-timeout');
      seen = now;
    }, this.#halfCloseTimeoutMs);
  }

  frontendHalfClosed(): boolean {
    if (this.#closeReason !== undefined) return true;
    if (!this.#halfClose) return false;
    this.#toNode.finish(halfClose(this.connectId));
    return true;
  }

  /** Grows with what the node sends, and with what it takes. */
  get #signsOfLife(): number {
    return this.bytesFromNode + this.bytesToNode + this.#grantedBytes;
  }

  frontendEnded(reason: CloseReason): void {
    if (!this.#end(reason)) return;
    // What the client sent before it went is still delivered, however it went.
    this.#toNode.finish(closeRequest(this.connectId, this.#halfClose && isAbnormal(reason)));
  }

  /** The agent ended it (CLOSE_RSP, or its stream is gone): the frontend is told, the agent is not. */
  backendEnded(reason: CloseReason, error: string): void {
    if (!this.#end(reason)) return;
    this.frontend.closed(reason, error);
  }

  close(reason: CloseReason): void {
    if (!this.#end(reason)) return;
    this.#toNode.cut(closeRequest(this.connectId, this.#halfClose));
    this.frontend.closed(reason, `closed by the konnectivity server: ${reason}`);
  }

  #end(reason: CloseReason): boolean {
    if (this.#closeReason !== undefined) return false;
    this.#closeReason = reason;
    this.#inflow.end(this.frontend.bufferedBytes);
    clearInterval(this.#silence);
    this.#onEnd(this, reason);
    return true;
  }
}
