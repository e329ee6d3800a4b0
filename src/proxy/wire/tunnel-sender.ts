import { MAX_DATA_BYTES, Outflow, type OutflowOwner } from './flow.ts';
import type { Link } from './link.ts';
import type { LinkQueue, LinkQueueOwner } from './link-queue.ts';
import type { Packet } from './packet.ts';
import { window } from './packets.ts';

/** Where a tunnel's bytes come from. */
export interface TunnelSource {
  pause(): void;
  resume(): void;
}

/** One direction of one tunnel, at the sending end: its credit, its turn on the link, and the pause of its source. */
export class TunnelSender implements OutflowOwner, LinkQueueOwner {
  /** Payload that was taken, in bytes. */
  bytes = 0;
  readonly #link: Link;
  readonly #queue: LinkQueue;
  readonly #outflow: Outflow;
  readonly #source: TunnelSource;
  #pausedSinceMs: number | undefined;

  /** @param flow whether the peer grants credit */
  constructor(link: Link, connectId: number, flow: boolean, source: TunnelSource) {
    this.#link = link;
    this.#source = source;
    this.#queue = link.queue(connectId, this);
    this.#outflow = new Outflow(flow, this);
  }

  /** When the source was paused, on performance.now()'s clock; undefined while it is not. */
  get pausedSinceMs(): number | undefined {
    return this.#pausedSinceMs;
  }

  /** Sends bytes as DATA of at most 64 KiB each. */
  data(chunk: Buffer): void {
    if (chunk.length <= MAX_DATA_BYTES) {
      this.#sent(chunk.length, this.#link.sendData(this.#queue, chunk));
      return;
    }
    for (let at = 0; at < chunk.length; at += MAX_DATA_BYTES) {
      const part = chunk.subarray(at, at + MAX_DATA_BYTES);
      this.#sent(part.length, this.#link.sendData(this.#queue, part));
    }
  }

  /** Passes a DATA frame on as it came. */
  frame(frame: Buffer, payloadBytes: number): void {
    this.#sent(payloadBytes, this.#link.sendDataFrame(this.#queue, frame, payloadBytes));
  }

  /** WINDOW of this tunnel. */
  granted(bytes: number): void {
    if (this.#outflow.grant(bytes)) this.#maybeResume();
  }

  /** Sends a packet behind all that was sent. */
  finish(packet: Packet): void {
    this.#link.sendLast(this.#queue, packet);
  }

  /** Drops what waits, and sends the packet at once. */
  cut(packet: Packet): void {
    this.#queue.clear();
    this.#link.send(packet);
  }

  tellBlocked(): void {
    this.#link.send(window(this.#queue.connectId, 0));
  }

  onLinkFree(): void {
    this.#maybeResume();
  }

  #sent(bytes: number, linkFree: boolean): void {
    this.bytes += bytes;
    const creditLeft = this.#outflow.take(bytes);
    if ((creditLeft && linkFree) || this.#pausedSinceMs !== undefined) return;
    this.#pausedSinceMs = performance.now();
    this.#source.pause();
  }

  #maybeResume(): void {
    if (this.#pausedSinceMs === undefined || this.#outflow.blocked || !this.#queue.empty) return;
    this.#pausedSinceMs = undefined;
    this.#source.resume();
  }
}
