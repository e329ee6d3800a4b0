import type { Status } from '../wire/packet.ts';
import type { ServerLink } from './server-link.ts';

/** Sends STATUS on every stream when it changed, at most once per interval, the last state always. */
export class StatusAnnouncer {
  readonly #status: () => Status;
  readonly #links: () => Iterable<ServerLink>;
  readonly #intervalMs: number;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #soonAtMs = Number.NEGATIVE_INFINITY;

  constructor(status: () => Status, links: () => Iterable<ServerLink>, intervalMs: number) {
    this.#status = status;
    this.#links = links;
    this.#intervalMs = intervalMs;
  }

  /** Something in the status may have changed: it is sent when the interval is over. */
  changed(): void {
    if (this.#timer !== undefined || this.#stopped) return;
    this.#timer = setTimeout(() => this.#send(), this.#intervalMs).unref();
  }

  /** Sends it at once, unless the last call was less than the interval ago: outsiders cause these. */
  soon(): void {
    const nowMs = performance.now();
    if (nowMs - this.#soonAtMs < this.#intervalMs) {
      this.changed();
      return;
    }
    this.#soonAtMs = nowMs;
    this.now();
  }

  /** Sends it at once. */
  now(): void {
    clearTimeout(this.#timer);
    this.#send();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #send(): void {
    this.#timer = undefined;
    if (this.#stopped) return;
    const status = this.#status();
    for (const link of this.#links()) link.announce(status);
  }
}
