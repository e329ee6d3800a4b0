import type { CloseReason } from '../wire/close-reason.ts';
import type { Feature } from '../wire/extension.ts';
import { type BufferBounds, Inflow, MAX_DATA_BYTES, Outflow } from '../wire/flow.ts';
import type { Packet } from '../wire/packet.ts';
import { closeRequest, window } from '../wire/packets.ts';
import type { Frontend, FrontendTunnel } from './frontend.ts';

/** The agent's stream, as a tunnel sees it. */
export interface Carrier {
  readonly features: ReadonlySet<Feature>;
  send(packet: Packet): boolean;
  /** False: accepted, but pause the source and waitForDrain. */
  sendFrame(frame: Buffer): boolean;
  sendData(connectId: number, payload: Buffer): boolean;
  /** Calls tunnel.linkDrained() once, when the stream has room again. */
  waitForDrain(tunnel: Tunnel): void;
  isWaiting(tunnel: Tunnel): boolean;
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
  bytesToNode = 0;
  bytesFromNode = 0;
  readonly #carrier: Carrier;
  readonly #inflow: Inflow;
  readonly #outflow: Outflow;
  readonly #onEnd: (tunnel: Tunnel, reason: CloseReason) => void;
  #closeReason: CloseReason | undefined;
  #paused = false;

  constructor(parts: TunnelParts) {
    const { carrier, connectId } = parts;
    this.#carrier = carrier;
    this.connectId = connectId;
    this.dialId = parts.dialId;
    this.address = parts.address;
    this.frontend = parts.frontend;
    this.startedAtMs = parts.startedAtMs;
    this.#onEnd = parts.onEnd;
    const flow = carrier.features.has('flow');
    this.#outflow = new Outflow(flow, () => carrier.send(window(connectId, 0)));
    this.#inflow = new Inflow({
      flow,
      bounds: parts.bounds,
      grant: (bytes) => carrier.send(window(connectId, bytes)),
      onSlowConsumer: () => this.close('slow-consumer'),
    });
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
    for (let at = 0; at < chunk.length; at += MAX_DATA_BYTES) {
      const part = chunk.length <= MAX_DATA_BYTES ? chunk : chunk.subarray(at, at + MAX_DATA_BYTES);
      if (this.#closeReason !== undefined) return;
      this.#sent(part.length, this.#carrier.sendData(this.connectId, part));
    }
  }

  sendToNode(frame: Buffer, bytes: number): void {
    if (this.#closeReason === undefined) this.#sent(bytes, this.#carrier.sendFrame(frame));
  }

  #sent(bytes: number, linkFree: boolean): void {
    this.bytesToNode += bytes;
    const creditLeft = this.#outflow.take(bytes);
    if (!linkFree) this.#carrier.waitForDrain(this);
    if (!(creditLeft && linkFree) && !this.#paused) {
      this.#paused = true;
      this.frontend.pause();
    }
  }

  /** WINDOW from the agent: a grant, or (0) the word that it used all it had. */
  granted(bytes: number): void {
    if (bytes === 0) {
      this.#inflow.senderBlocked(this.frontend.bufferedBytes);
      return;
    }
    if (this.#outflow.grant(bytes)) this.#maybeResume();
  }

  /** The backend's stream has room again. */
  linkDrained(): void {
    if (!this.#outflow.blocked) this.#maybeResume();
  }

  frontendDrained(): void {
    this.#inflow.progressed(this.frontend.bufferedBytes);
  }

  frontendEnded(reason: CloseReason): void {
    if (!this.#end(reason)) return;
    this.#carrier.send(closeRequest(this.connectId));
  }

  /** The agent ended it (CLOSE_RSP, or its stream is gone): the frontend is told, the agent is not. */
  backendEnded(reason: CloseReason, error: string): void {
    if (!this.#end(reason)) return;
    this.frontend.closed(reason, error);
  }

  close(reason: CloseReason): void {
    if (!this.#end(reason)) return;
    this.#carrier.send(closeRequest(this.connectId));
    this.frontend.closed(reason, `closed by the konnectivity server: ${reason}`);
  }

  #maybeResume(): void {
    if (!this.#paused || this.#carrier.isWaiting(this)) return;
    this.#paused = false;
    this.frontend.resume();
  }

  #end(reason: CloseReason): boolean {
    if (this.#closeReason !== undefined) return false;
    this.#closeReason = reason;
    this.#inflow.end();
    this.#onEnd(this, reason);
    return true;
  }
}
