import type { CloseReason } from '../wire/close-reason.ts';
import type { Feature } from '../wire/extension.ts';
import { type BufferBounds, Inflow } from '../wire/flow.ts';
import type { Link } from '../wire/link.ts';
import type { Packet } from '../wire/packet.ts';
import { closeRequest, window } from '../wire/packets.ts';
import { TunnelSender } from '../wire/tunnel-sender.ts';
import type { Frontend, FrontendTunnel } from './frontend.ts';

/** The agent's stream, as a tunnel sees it. */
export interface Carrier {
  readonly features: ReadonlySet<Feature>;
  readonly link: Link;
}

/** What a tunnel is made of. */
export interface TunnelParts {
  readonly carrier: Carrier;
  readonly connectId: number;
  readonly dialId: bigint;
  readonly address: string;
  readonly frontend: Frontend;
  readonly startedAtMs: number;
  readonly bounds: BufferBounds;
  /** Told once, before either side is. */
  readonly onEnd: (tunnel: Tunnel, reason: CloseReason) => void;
}

/**
 * An established connection frontend <-> backend/connectID. It belongs to the backend object, never to the agent ID,
 * so two streams of one agent can never mix bytes.
 */
export class Tunnel implements FrontendTunnel {
  readonly connectId: number;
  readonly dialId: bigint;
  readonly address: string;
  readonly frontend: Frontend;
  readonly startedAtMs: number;
  bytesFromNode = 0;
  readonly #inflow: Inflow;
  readonly #toNode: TunnelSender;
  readonly #onEnd: (tunnel: Tunnel, reason: CloseReason) => void;
  #closeReason: CloseReason | undefined;

  constructor(parts: TunnelParts) {
    const { connectId } = parts;
    const { link, features } = parts.carrier;
    this.connectId = connectId;
    this.dialId = parts.dialId;
    this.address = parts.address;
    this.frontend = parts.frontend;
    this.startedAtMs = parts.startedAtMs;
    this.#onEnd = parts.onEnd;
    const flow = features.has('flow');
    this.#toNode = new TunnelSender(link, connectId, flow, parts.frontend);
    this.#inflow = new Inflow({
      flow,
      bounds: parts.bounds,
      grant: (bytes) => link.send(window(connectId, bytes)),
      onSlowConsumer: () => this.close('slow-consumer'),
    });
  }

  get bytesToNode(): number {
    return this.#toNode.bytes;
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
    this.#toNode.granted(bytes);
  }

  frontendDrained(): void {
    this.#inflow.progressed(this.frontend.bufferedBytes);
  }

  frontendEnded(reason: CloseReason): void {
    if (!this.#end(reason)) return;
    // What the client sent before it went is still delivered, however it went.
    this.#toNode.finish(closeRequest(this.connectId));
  }

  /** The agent ended it (CLOSE_RSP, or its stream is gone): the frontend is told, the agent is not. */
  backendEnded(reason: CloseReason, error: string): void {
    if (!this.#end(reason)) return;
    this.frontend.closed(reason, error);
  }

  close(reason: CloseReason): void {
    if (!this.#end(reason)) return;
    this.#toNode.cut(closeRequest(this.connectId));
    this.frontend.closed(reason, `closed by the konnectivity server: ${reason}`);
  }

  #end(reason: CloseReason): boolean {
    if (this.#closeReason !== undefined) return false;
    this.#closeReason = reason;
    this.#inflow.end();
    this.#onEnd(this, reason);
    return true;
  }
}
