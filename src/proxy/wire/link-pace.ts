/** Never fewer bytes under way: below this the two processes wait for each other more than they work. */
export const MIN_LINK_WINDOW_BYTES = 256 * 1024;
export const MAX_LINK_WINDOW_BYTES = 16 * 1024 * 1024;
/** How much a measured rate counts beside the earlier ones: the largest would take bursts behind a pause for the rate. */
const RATE_GAIN = 0.25;
/** A round trip that was not reached again for that long is measured anew, with little under way. */
const ROUND_TRIP_AGE_MS = 10_000;
/** The least of so many is taken then: a single one may have met a busy machine. */
const PROBES = 8;
/** How long the window stays narrow after something that somebody waits for met a full link. */
const HURRY_MS = 1000;

/**
 * How many bytes may be under way on a link: twice what it delivers in its least round trip (docs/EXTENSIONS.md). More
 * would only fill the buffers of kernels, in which a keystroke then waits. Costs two additions per packet; the clock
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
  #hurriedAtMs = Number.NEGATIVE_INFINITY;

  /** @param now milliseconds on a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get open(): boolean {
    return this.underWayBytes < this.windowBytes;
  }

  sent(bytes: number): void {
    this.#sent += bytes;
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
  }

  /**
   * A keystroke or a dial met a full link. Throughput needs a wide window, whoever waits a narrow one: while there are
   * such, no more is under way than one round trip delivers.
   */
  hurry(): void {
    this.#hurriedAtMs = this.#now();
    this.#setWindow(1);
  }

  #measure(nowMs: number): void {
    const tookMs = Math.max(nowMs - this.#sampleAtMs, 0.01);
    this.#samplePosition = -1;
    if (tookMs <= this.#roundTripMs) {
      this.#roundTripMs = tookMs;
      this.#roundTripAtMs = nowMs;
    }
    const bytesPerMs = (this.#delivered - this.#sampleDelivered) / tookMs;
    const gain = this.#bytesPerMs === 0 ? 1 : RATE_GAIN;
    if (this.#probes === 0) this.#bytesPerMs += gain * (bytesPerMs - this.#bytesPerMs);
    else this.#probes--;
    if (nowMs - this.#roundTripAtMs > ROUND_TRIP_AGE_MS) {
      this.#roundTripMs = Number.POSITIVE_INFINITY;
      this.#roundTripAtMs = nowMs;
      this.#probes = PROBES;
    }
    this.#setWindow(nowMs - this.#hurriedAtMs < HURRY_MS ? 1 : 2);
  }

  #setWindow(roundTrips: number): void {
    const bytes =
      this.#probes > 0 || this.#bytesPerMs === 0 ? 0 : roundTrips * this.#bytesPerMs * this.#roundTripMs;
    this.windowBytes = Math.min(MAX_LINK_WINDOW_BYTES, Math.max(MIN_LINK_WINDOW_BYTES, bytes));
  }
}
