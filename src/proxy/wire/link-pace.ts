/** Never fewer bytes under way: below this the two processes wait for each other more than they work. */
export const MIN_LINK_WINDOW_BYTES = 256 * 1024;
export const MAX_LINK_WINDOW_BYTES = 16 * 1024 * 1024;
/**
 * What the kernels of one connection hold at the least, once it has been in use (4 MiB less overhead, by Linux'
 * tcp_wmem). Node reads nothing from an HTTP/2 connection while a write to it is not complete, so two Node processes
 * that both have more under way wait for each other for ever: only one of the two directions may.
 */
export const SAFE_LINK_WINDOW_BYTES = 2 * 1024 * 1024;
/** What may arrive in a round trip without being in the way of more than the safe window: it fits any kernel. */
const SERVER_CROWD_BYTES = MIN_LINK_WINDOW_BYTES;
/** The agent goes first, since the bulk comes from the nodes: a server that yields sends no more than this. */
const AGENT_CROWD_BYTES = 2 * SAFE_LINK_WINDOW_BYTES;
/** How much a measured rate counts beside the earlier ones: the largest would take bursts behind a pause for the rate. */
const RATE_GAIN = 0.25;
/**
 * From here on a link is long: its round trips are too few to grow by quarters, and so long that bursts do not make them,
 * so that a higher rate counts at once. On short ones processes wait for each other rather than for the link.
 */
const LONG_ROUND_TRIP_MS = 5;
/** On a long link, a full window that took no longer than so many of the least round trips met no queue: it was the limit. */
const FREE_ROUND_TRIPS = 1.25;
/** A round trip that was not reached again for that long is measured anew, with little under way. */
const ROUND_TRIP_AGE_MS = 10_000;
/** The least of so many is taken then: a single one may have met a busy machine. */
const PROBES = 8;
/** How long the window stays narrow after something that somebody waits for met a full link. */
const HURRY_MS = 1000;
/**
 * While nobody waits, what the link delivers in this time is under way at the least: on a short link two processes that
 * stop for each other after every quarter of a megabyte leave a third of a core idle.
 */
const CALM_MS = 3;

/**
 * How many bytes may be under way on a link: twice what it delivers in its least round trip, or in three milliseconds
 * (docs/EXTENSIONS.md). More would only fill the buffers of kernels, in which a keystroke then waits. Costs two additions per packet; the clock
 * is read twice per round trip, and only while the window is the limit.
 */
export class LinkPace {
  windowBytes = MIN_LINK_WINDOW_BYTES;
  /** Sent and not yet granted back. */
  underWayBytes = 0;
  readonly #now: () => number;
  #sent = 0;
  #delivered = 0;
  /** The one measurement under way; position -1: none. */
  #samplePosition = -1;
  #sampleAtMs = 0;
  #sampleDelivered = 0;
  #roundTripMs = Number.POSITIVE_INFINITY;
  #roundTripAtMs = Number.NEGATIVE_INFINITY;
  /** Measurements to come with the least window: a round trip under full load is not the least. */
  #probes = 0;
  #bytesPerMs = 0;
  /** The last full window may have waited in a queue. */
  #queued = true;
  #hurriedAtMs = Number.NEGATIVE_INFINITY;
  /** The round trip under way: it ends with the delivery of that position. */
  #roundPosition = 0;
  #roundDelivered = 0;
  #roundArrived = 0;
  #ceilingBytes = SAFE_LINK_WINDOW_BYTES;
  readonly #crowdBytes: number;

  /**
   * @param side a server yields to its agent where both send in bulk
   * @param now milliseconds on a clock that never goes back
   */
  constructor(side: 'server' | 'agent', now: () => number = () => performance.now()) {
    this.#now = now;
    this.#crowdBytes = side === 'server' ? SERVER_CROWD_BYTES : AGENT_CROWD_BYTES;
  }

  get open(): boolean {
    return this.underWayBytes < this.windowBytes;
  }

  sent(bytes: number): void {
    this.#sent += bytes;
    if (this.underWayBytes === 0) this.#beginRound(SAFE_LINK_WINDOW_BYTES);
    this.underWayBytes += bytes;
    // Only the packet that fills the window has a whole window delivered in its round trip.
    if (this.#samplePosition >= 0 || this.open) return;
    this.#samplePosition = this.#sent;
    this.#sampleAtMs = this.#now();
    this.#sampleDelivered = this.#delivered;
  }

  /** WINDOW for the link: the peer received that many bytes. More than was sent is not believed. */
  delivered(bytes: number): void {
    const counted = Math.min(bytes, this.underWayBytes);
    this.#delivered += counted;
    this.underWayBytes -= counted;
    if (this.#samplePosition >= 0 && this.#delivered >= this.#samplePosition) this.#measure(this.#now());
    if (this.#delivered >= this.#roundPosition) this.#endRound();
  }

  /** DATA came the other way. */
  arrived(bytes: number): void {
    this.#roundArrived += bytes;
    if (this.#roundArrived > this.#crowdBytes) this.#setCeiling(SAFE_LINK_WINDOW_BYTES);
  }

  /**
   * A keystroke or a dial met a full link. Throughput needs a wide window, whoever waits a narrow one: while there are
   * such, no more is under way than one round trip delivers. A link that is not filled yet grows all the same.
   */
  hurry(): void {
    this.#hurriedAtMs = this.#now();
    this.#setWindow(this.#queued ? 1 : 2);
  }

  /**
   * Only who has sent in bulk for a round trip, so that the peer saw it, and met no bulk of the peer, may have more under
   * way than is safe: of two that begin at once neither does.
   */
  #endRound(): void {
    const carried = this.#delivered - this.#roundDelivered;
    const alone = this.#roundArrived <= this.#crowdBytes;
    this.#beginRound(
      alone && carried >= SAFE_LINK_WINDOW_BYTES / 2 ? MAX_LINK_WINDOW_BYTES : SAFE_LINK_WINDOW_BYTES,
    );
  }

  #beginRound(ceilingBytes: number): void {
    this.#roundPosition = this.#sent;
    this.#roundDelivered = this.#delivered;
    this.#roundArrived = 0;
    this.#setCeiling(ceilingBytes);
  }

  #setCeiling(bytes: number): void {
    this.#ceilingBytes = bytes;
    if (this.windowBytes > bytes) this.windowBytes = bytes;
  }

  #measure(nowMs: number): void {
    const tookMs = Math.max(nowMs - this.#sampleAtMs, 0.01);
    this.#samplePosition = -1;
    if (tookMs <= this.#roundTripMs) {
      this.#roundTripMs = tookMs;
      this.#roundTripAtMs = nowMs;
    }
    const bytesPerMs = (this.#delivered - this.#sampleDelivered) / tookMs;
    const long = this.#roundTripMs >= LONG_ROUND_TRIP_MS;
    const gain = this.#bytesPerMs === 0 || (long && bytesPerMs > this.#bytesPerMs) ? 1 : RATE_GAIN;
    if (this.#probes === 0) this.#bytesPerMs += gain * (bytesPerMs - this.#bytesPerMs);
    else this.#probes--;
    if (nowMs - this.#roundTripAtMs > ROUND_TRIP_AGE_MS) {
      this.#roundTripMs = Number.POSITIVE_INFINITY;
      this.#roundTripAtMs = nowMs;
      this.#probes = PROBES;
    }
    this.#queued = !long || tookMs > FREE_ROUND_TRIPS * this.#roundTripMs;
    this.#setWindow(this.#queued && nowMs - this.#hurriedAtMs < HURRY_MS ? 1 : 2);
  }

  #setWindow(roundTrips: number): void {
    const ms = Math.max(roundTrips * this.#roundTripMs, roundTrips === 1 ? 0 : CALM_MS);
    const bytes = this.#probes > 0 || this.#bytesPerMs === 0 ? 0 : this.#bytesPerMs * ms;
    this.windowBytes = Math.min(this.#ceilingBytes, Math.max(MIN_LINK_WINDOW_BYTES, bytes));
  }
}
