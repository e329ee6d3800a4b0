import type { Log } from '../ops/log.ts';
import { Probe } from '../wire/probe.ts';
import type { AgentTimes } from './agent-options.ts';
import type { ServerLink } from './server-link.ts';

/** Probes each stream, and ends those whose server stays silent. */
export class ServerProbes {
  readonly #times: AgentTimes;
  readonly #log: Log;
  readonly #probes = new Map<ServerLink, Probe>();
  readonly #suspects = new Set<ServerLink>();

  constructor(times: AgentTimes, log: Log) {
    this.#times = times;
    this.#log = log;
  }

  /** Whether its last probe was not answered in time. */
  isSuspect(link: ServerLink): boolean {
    return this.#suspects.has(link);
  }

  /** Begins with a stream. */
  add(link: ServerLink): void {
    const { probe: times, goProbeIntervalMs } = this.#times;
    const serverID = link.server.serverId;
    const probe = new Probe(link, link.ours ? times : { ...times, intervalMs: goProbeIntervalMs }, {
      onSuspect: (suspect) => {
        if (suspect) this.#suspects.add(link);
        else this.#suspects.delete(link);
        if (suspect) this.#log.warning('Server does not answer', { serverID });
        else this.#log.info(1, 'Server answers again', { serverID });
      },
      onDead: () => link.abort('the server does not answer'),
    });
    this.#probes.set(link, probe);
  }

  /** The stream ended. */
  remove(link: ServerLink): void {
    this.#probes.get(link)?.stop();
    this.#probes.delete(link);
    this.#suspects.delete(link);
  }

  stop(): void {
    for (const probe of this.#probes.values()) probe.stop();
  }
}
