import type { Log } from '../ops/log.ts';
import type { AgentTimes } from './agent-options.ts';
import type { ServerLink } from './server-link.ts';

/** What leaving needs to know of its agent. */
export interface LeavingOptions {
  readonly times: AgentTimes;
  /** The rest of the tunnels is closed this long after the signal; 0 = never. */
  readonly drainTimeoutMs: number;
  readonly log: Log;
  links(): readonly ServerLink[];
  /** Tunnels and pending dials over all streams. */
  busy(): number;
  /** Nothing is left, or (`deadline`) the time is over: the agent may exit. */
  onDone(deadline: boolean): void;
}

/**
 * An agent that was told to go ends by itself (upstream's waits for ever): some time after the last tunnel and dial,
 * shortly when every server says that another ready agent can replace it, else after a linger, in which dials that
 * have nowhere else to go are still served.
 */
export class Leaving {
  since: Date | undefined;
  readonly #options: LeavingOptions;
  #idleTimer: NodeJS.Timeout | undefined;
  #idleSinceMs: number | undefined;
  #deadlineTimer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(options: LeavingOptions) {
    this.#options = options;
  }

  begin(): void {
    const { drainTimeoutMs, log, busy, links } = this.#options;
    this.since = new Date();
    log.info(1, 'Leaving: new dials go to other agents while there are any', {
      left: busy(),
      streams: links().length,
      ends:
        drainTimeoutMs > 0
          ? `at the last tunnel, or after ${drainTimeoutMs / 1000} s (--drain-timeout)`
          : 'at the last tunnel; no --drain-timeout is set, so the grace period of the platform applies',
    });
    if (drainTimeoutMs > 0) {
      this.#deadlineTimer = setTimeout(() => {
        log.warning('Drain timeout: closing what is left', { left: busy() });
        for (const link of links()) link.cutAll('drain-deadline');
        this.#done(true);
      }, drainTimeoutMs);
    }
    this.changed();
  }

  /** Tunnels, dials, streams or what the servers say changed. */
  changed(): void {
    if (this.since === undefined || this.#ended) return;
    clearTimeout(this.#idleTimer);
    if (this.#options.busy() > 0) {
      this.#idleSinceMs = undefined;
      return;
    }
    // What the servers say may shorten the wait, and prolong it: the agent that was to replace this one may leave too.
    this.#idleSinceMs ??= performance.now();
    const idleMs = performance.now() - this.#idleSinceMs;
    this.#idleTimer = setTimeout(
      () => {
        this.#options.log.info(1, 'Leaving: nothing is left');
        this.#done(false);
      },
      Math.max(0, this.#waitMs() - idleMs),
    );
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#deadlineTimer);
  }

  #waitMs(): number {
    const { times, links } = this.#options;
    const streams = links();
    if (streams.length === 0) return 0;
    return streams.every((link) => link.replacements > 0) ? times.leaveReplacedMs : times.leaveLingerMs;
  }

  #done(deadline: boolean): void {
    this.end();
    this.#options.onDone(deadline);
  }
}
