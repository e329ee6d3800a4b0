import type { Log } from '../ops/log.ts';
import type { ServerLink } from './server-link.ts';

/** What the set of drained streams needs to know of its agent. */
export interface DrainedStreamsOptions {
  links(): Iterable<ServerLink>;
  /** Whether the agent drains: under an order, or leaving. */
  draining(): boolean;
  /** Closes a stream so that it is made anew. */
  remake(link: ServerLink): void;
  readonly log: Log;
}

/**
 * Streams whose server was told DRAIN, which it cannot be told the end of: Go servers. After an undrain such a stream is
 * kept until its last tunnel and dial have ended, then it is made anew. Not before: a Go server uses the oldest stream
 * of an agent alone, so that a second one would not be chosen.
 */
export class DrainedStreams {
  readonly #options: DrainedStreamsOptions;
  #looking = false;

  constructor(options: DrainedStreamsOptions) {
    this.#options = options;
  }

  /** IDs of servers that take the agent for draining although it is not. */
  get servers(): string[] {
    return this.#stale().map((link) => link.server.serverId);
  }

  /** A dial or tunnel ended, or the order. Looks behind what is being done now: the last packet of a tunnel goes first. */
  changed(): void {
    if (this.#looking || this.#stale().length === 0) return;
    this.#looking = true;
    queueMicrotask(() => {
      this.#looking = false;
      this.#look();
    });
  }

  #look(): void {
    const { remake, log } = this.#options;
    for (const link of this.#stale()) {
      if (!link.idle || link.closing) continue;
      log.info(1, 'Connecting anew to a server that cannot be told that the drain is over', {
        serverID: link.server.serverId,
      });
      remake(link);
    }
  }

  #stale(): ServerLink[] {
    const { draining, links } = this.#options;
    const stale: ServerLink[] = [];
    for (const link of links()) if (link.saidDrain) stale.push(link);
    return stale.length > 0 && draining() ? [] : stale;
  }
}
