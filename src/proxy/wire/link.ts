import { encodeFrame } from './encode.ts';
import { LinkPace } from './link-pace.ts';
import { LinkQueue, type LinkQueueOwner, type Waiting } from './link-queue.ts';
import type { Packet } from './packet.ts';
import type { PacketStream } from './packet-stream.ts';
import { window } from './packets.ts';

/** What one tunnel sends in its turn, in bytes of payload. */
const TURN_BYTES = 64 * 1024;
/** A tunnel that begins with no more than this, as a keystroke does, goes before those that have sent all along. */
const SPARSE_BYTES = 8 * 1024;
/** How far such packets may go beyond the link's window: it costs bulk nothing, and a keystroke saves a round trip. */
const SLIP_BYTES = 64 * 1024;
/** What was received is granted back in no smaller pieces, at most once per turn of the event loop. */
const GRANT_BYTES = 64 * 1024;
const LINK = 0;

/**
 * A stream that carries many tunnels, shared fairly: control packets go at once, then tunnels in turn by bytes, one
 * that has just begun to send first. Between peers with `flow` no more is under way than the link delivers, so that
 * the queues are here, where they can be shared, and not in kernels.
 */
export class Link {
  readonly #stream: PacketStream;
  readonly #pace: LinkPace | undefined;
  #newQueues: LinkQueue[] = [];
  #oldQueues: LinkQueue[] = [];
  #streamFull = false;
  #receivedBytes = 0;
  #granting = false;
  #pumping = false;
  /** What went beyond the window since the link was last free. */
  #slippedBytes = 0;

  /**
   * @param side which end of it this is
   * @param flow whether the peer announced `flow`: grants for the link are sent and awaited
   */
  constructor(stream: PacketStream, side: 'server' | 'agent', flow: boolean, now?: () => number) {
    this.#stream = stream;
    this.#pace = flow ? new LinkPace(side, now) : undefined;
  }

  /** Sends a packet that need not wait: everything but DATA, and what must follow the DATA of its tunnel. */
  send(packet: Packet): boolean {
    return this.#stream.sendFrame(encodeFrame(packet));
  }

  /** The same for a packet that a dial waits for. */
  sendHurried(frame: Buffer): boolean {
    if (!this.#free) this.#pace?.hurry();
    return this.#stream.sendFrame(frame);
  }

  /** A tunnel's way into the link. Its owner is told when send... returned false and all of it has gone. */
  queue(connectId: number, owner: LinkQueueOwner): LinkQueue {
    return new LinkQueue(connectId, owner);
  }

  /** Sends DATA of a tunnel now or in its turn. False: pause the source until onLinkFree(). */
  sendData(queue: LinkQueue, payload: Buffer): boolean {
    if ((this.#free && queue.empty && !this.#pumping) || this.#slips(queue, payload.length)) {
      this.#sendPayload(queue.connectId, payload);
      return true;
    }
    this.#wait(queue, { bytes: payload, framed: false, payloadBytes: payload.length });
    return false;
  }

  /** The same for a DATA frame that is passed on as it came. */
  sendDataFrame(queue: LinkQueue, frame: Buffer, payloadBytes: number): boolean {
    if ((this.#free && queue.empty && !this.#pumping) || this.#slips(queue, payloadBytes)) {
      this.#sendWhole(frame, payloadBytes);
      return true;
    }
    this.#wait(queue, { bytes: frame, framed: true, payloadBytes });
    return false;
  }

  /** Sends a packet behind all DATA of its tunnel. */
  sendLast(queue: LinkQueue, packet: Packet): void {
    const frame = encodeFrame(packet);
    if (queue.empty) this.#stream.sendFrame(frame);
    else this.#wait(queue, { bytes: frame, framed: true, payloadBytes: 0 });
  }

  /** DATA arrived: the peer is told, as soon as it is worth a packet. */
  received(payloadBytes: number): void {
    if (this.#pace === undefined) return;
    this.#receivedBytes += payloadBytes;
    if (this.#receivedBytes < GRANT_BYTES || this.#granting) return;
    this.#granting = true;
    setImmediate(() => {
      this.#granting = false;
      const bytes = this.#receivedBytes;
      this.#receivedBytes = 0;
      this.#pace?.arrived(bytes);
      if (this.#stream.open) this.send(window(LINK, bytes));
    });
  }

  /** WINDOW with connectID 0. */
  granted(bytes: number): void {
    if (this.#pace === undefined || bytes <= 0) return;
    this.#pace.delivered(bytes);
    this.#pump();
  }

  /** The stream has room again. */
  drained(): void {
    this.#streamFull = false;
    this.#pump();
  }

  /** The stream is gone: what waits is dropped, nobody is called back any more. */
  end(): void {
    for (const queue of [...this.#newQueues, ...this.#oldQueues]) queue.clear();
    this.#newQueues = [];
    this.#oldQueues = [];
  }

  /** Nothing of any tunnel waits here. */
  get empty(): boolean {
    return [...this.#newQueues, ...this.#oldQueues].every((queue) => queue.empty);
  }

  get #free(): boolean {
    return !this.#streamFull && (this.#pace === undefined || this.#pace.open);
  }

  #sendPayload(connectId: number, payload: Buffer): void {
    this.#pace?.sent(payload.length);
    if (!this.#stream.sendData(connectId, payload)) this.#streamFull = true;
  }

  #sendWhole(frame: Buffer, payloadBytes: number): void {
    if (payloadBytes > 0) this.#pace?.sent(payloadBytes);
    if (!this.#stream.sendFrame(frame)) this.#streamFull = true;
  }

  /** Whether a packet need not wait for grants: a small one of a tunnel that rested, and once a round. */
  #slips(queue: LinkQueue, payloadBytes: number): boolean {
    if (this.#pace === undefined || payloadBytes > SPARSE_BYTES || queue.place !== 'none') return false;
    if (this.#slippedBytes + payloadBytes > SLIP_BYTES) return false;
    this.#slippedBytes += payloadBytes;
    this.#pace.hurry();
    queue.place = 'old';
    this.#oldQueues.push(queue);
    return true;
  }

  #wait(queue: LinkQueue, one: Waiting): void {
    queue.push(one);
    if (queue.place !== 'none') return;
    const sparse = one.payloadBytes <= SPARSE_BYTES;
    queue.place = sparse ? 'new' : 'old';
    if (sparse) this.#pace?.hurry();
    (sparse ? this.#newQueues : this.#oldQueues).push(queue);
  }

  /** Lets tunnels send in turn while the link is free. */
  #pump(): void {
    // A source that goes on within served() sends at once, and must not begin a round of its own.
    if (this.#pumping) return;
    this.#pumping = true;
    if (this.#free) this.#slippedBytes = 0;
    let served = 0;
    while (this.#free) {
      const fresh = this.#newQueues.length > 0;
      const queue = fresh ? this.#newQueues.shift() : this.#oldQueues[served++];
      if (queue === undefined) break;
      const hadNone = queue.empty;
      this.#turn(queue);
      if (hadNone) queue.place = 'none';
      else {
        queue.place = 'old';
        this.#oldQueues.push(queue);
        if (queue.empty) queue.served();
      }
    }
    if (served > 0) this.#oldQueues.splice(0, served);
    this.#pumping = false;
  }

  #turn(queue: LinkQueue): void {
    let bytes = 0;
    while (bytes < TURN_BYTES && this.#free) {
      const one = queue.shift();
      if (one === undefined) return;
      bytes += one.payloadBytes;
      if (one.framed) this.#sendWhole(one.bytes, one.payloadBytes);
      else this.#sendPayload(queue.connectId, one.bytes);
    }
  }
}
