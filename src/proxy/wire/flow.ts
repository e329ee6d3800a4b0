import type { BufferHolder, Buffers } from './buffers.ts';

/**
 * Per-tunnel flow control (docs/EXTENSIONS.md), one object per direction of a tunnel. The upstream protocol has none,
 * which is why one slow reader stalls a whole agent there.
 */

/** Credit with which each direction of a tunnel starts, in bytes of payload. */
export const INITIAL_WINDOW_BYTES = 256 * 1024;
/** The most that a window grows to. */
export const MAX_WINDOW_BYTES = 16 * 1024 * 1024;
/** No more is kept back of what left: a reader of 64 KiB/s would be silent for a minute by a quarter of a wide window. */
const MAX_GRANT_BYTES = 1024 * 1024;
/** The largest payload of a DATA packet that we make. */
export const MAX_DATA_BYTES = 64 * 1024;

/** One packet may go beyond the credit, of the largest size that a stream takes. */
const OVERRUN_BYTES = 4 * 1024 * 1024;
/** What a waiting packet costs beside its payload, roughly: objects and headers of buffers. */
const PACKET_BYTES = 128;

/** What Outflow needs from its owner. An object and no functions: there are thousands of tunnels. */
export interface OutflowOwner {
  /** Sends WINDOW with 0: the receiver learns that its window is the limit. */
  tellBlocked(): void;
}

/** Sender's side: how much may still be sent. Towards a peer without `flow` the credit never ends. */
export class Outflow {
  readonly #owner: OutflowOwner;
  #credit: number;

  constructor(flow: boolean, owner: OutflowOwner) {
    this.#credit = flow ? INITIAL_WINDOW_BYTES : Number.POSITIVE_INFINITY;
    this.#owner = owner;
  }

  /** Takes `bytes` that are being sent; false when the source must now be paused. */
  take(bytes: number): boolean {
    const before = this.#credit;
    this.#credit = before - bytes;
    if (this.#credit > 0) return true;
    if (before > 0) this.#owner.tellBlocked();
    return false;
  }

  /** Adds a grant; true when the source may go on. */
  grant(bytes: number): boolean {
    if (bytes > 0) this.#credit = Math.min(this.#credit + bytes, Number.MAX_SAFE_INTEGER);
    return this.#credit > 0;
  }

  get blocked(): boolean {
    return this.#credit <= 0;
  }
}

/** What Inflow needs from its owner. */
export interface InflowOwner {
  /** Sends WINDOW with that many bytes. */
  sendGrant(bytes: number): void;
  /** What waits for the reader now: not every transport tells what it takes. */
  readonly bufferedBytes: number;
  /** The reader is too slow for the bounds: close the tunnel. */
  onSlowConsumer(): void;
  /** The same after end(): drop what still waits. */
  onSlowTail(): void;
  /** A sender that knows of grants went far beyond them: close the tunnel. */
  onOverrun(): void;
}

/** Receiver's side: grants as bytes leave, and holds the bounds towards peers that do not listen to grants. */
export class Inflow implements BufferHolder {
  /** The memory behind what waits for the reader. */
  heldBytes = 0;
  readonly #owner: InflowOwner;
  readonly #buffers: Buffers;
  readonly #flow: boolean;
  #window = INITIAL_WINDOW_BYTES;
  #received = 0;
  #consumed = 0;
  /** Of the payload of a packet, over about the last 64. */
  #meanBytes = MAX_DATA_BYTES;
  #granted = INITIAL_WINDOW_BYTES;
  #stallTimer: NodeJS.Timeout | undefined;
  #grantSoon = false;
  #ended = false;
  /** Ended, and nothing is left. */
  #gone = false;

  /** @param flow whether the peer takes WINDOW packets */
  constructor(owner: InflowOwner, buffers: Buffers, flow: boolean) {
    this.#owner = owner;
    this.#buffers = buffers;
    this.#flow = flow;
    buffers.enter(this);
  }

  /** `bytes` arrived and were passed on; `bufferedBytes` of all that arrived still wait here for the reader. */
  received(bytes: number, bufferedBytes: number): void {
    this.#received += bytes;
    this.#meanBytes += (bytes - this.#meanBytes) / 64;
    if (this.#flow && this.#received > this.#granted + OVERRUN_BYTES) {
      this.end(bufferedBytes);
      this.#owner.onOverrun();
      return;
    }
    this.progressed(bufferedBytes);
    if (this.#overSoft) this.#watch();
  }

  /** The reader took something, or a buffer was found empty: `bufferedBytes` still wait. */
  progressed(bufferedBytes: number): void {
    if (this.#gone) return;
    if (this.#ended) {
      if (bufferedBytes === 0) this.dropped();
      else this.#hold(this.#weigh(bufferedBytes));
      return;
    }
    this.#hold(this.#weigh(bufferedBytes));
    // It may have been the largest holder.
    if (this.#ended) return;
    const consumed = this.#received - bufferedBytes;
    if (consumed > this.#consumed) {
      this.#consumed = consumed;
      if (this.#stallTimer !== undefined) {
        this.#unwatch();
        if (this.#overSoft) this.#watch();
      }
    }
    if (this.#flow) this.#maybeGrant();
  }

  /** The sender used all its credit. When little of it waits here, the window is the limit, not the reader: it grows. */
  senderBlocked(bufferedBytes: number): void {
    if (this.#ended || bufferedBytes > this.#window / 4 || this.#window >= MAX_WINDOW_BYTES) return;
    if (!this.#buffers.promise(this.#window)) return;
    this.#window *= 2;
    this.#maybeGrant();
  }

  /** From here on each piece that the reader takes is granted at once: the sender wants to know whether it still does. */
  grantSoon(): void {
    this.#grantSoon = true;
  }

  /** The process holds more than it may, and this holds most of it. */
  giveUp(): void {
    const tail = this.#ended;
    this.dropped();
    if (tail) this.#owner.onSlowTail();
    else this.#owner.onSlowConsumer();
  }

  /**
   * The tunnel ended; nothing is granted or watched any more. `bufferedBytes` still wait for the reader: they count
   * until progressed() or dropped() says that they are gone.
   */
  end(bufferedBytes: number): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#buffers.release(this.#window - INITIAL_WINDOW_BYTES);
    this.#unwatch();
    this.progressed(bufferedBytes);
  }

  /** Nothing waits for the reader any more, nor will: it is gone, or was given up. */
  dropped(): void {
    if (this.#gone) return;
    this.end(0);
    if (this.#gone) return;
    this.#gone = true;
    this.#hold(0);
    this.#buffers.leave(this);
  }

  #maybeGrant(): void {
    const grant = this.#window - (this.#granted - this.#consumed);
    if (grant < (this.#grantSoon ? 1 : Math.min(this.#window / 4, MAX_GRANT_BYTES))) return;
    this.#granted += grant;
    this.#owner.sendGrant(grant);
  }

  #hold(bytes: number): void {
    const change = bytes - this.heldBytes;
    if (change === 0) return;
    this.heldBytes = bytes;
    this.#buffers.changed(change);
  }

  /** A peer must not make us hold much more than it sends by tiny packets. */
  #weigh(bufferedBytes: number): number {
    // What fits the first window is always held: a reader that is paused for long is legal.
    if (bufferedBytes <= INITIAL_WINDOW_BYTES) return bufferedBytes;
    return Math.round(bufferedBytes * (1 + PACKET_BYTES / this.#meanBytes));
  }

  /** A sender that obeys grants is bounded by them: its reader may pause for as long as it likes. */
  get #overSoft(): boolean {
    return !this.#flow && this.heldBytes > this.#buffers.bounds.softBytes;
  }

  #watch(): void {
    const { bounds } = this.#buffers;
    if (this.#ended) return;
    if (this.heldBytes > bounds.hardBytes) this.giveUp();
    else this.#stallTimer ??= setTimeout(() => this.#stalled(), bounds.stallMs);
  }

  /** Nothing was told to be taken for the stall time. */
  #stalled(): void {
    this.#stallTimer = undefined;
    const consumed = this.#consumed;
    this.progressed(this.#owner.bufferedBytes);
    if (this.#ended || !this.#overSoft) return;
    if (this.#consumed > consumed) this.#watch();
    else this.giveUp();
  }

  #unwatch(): void {
    clearTimeout(this.#stallTimer);
    this.#stallTimer = undefined;
  }
}
