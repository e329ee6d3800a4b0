import type { Clock } from '../../ops/clock.ts';
import type { Identifiers } from '../../wire/identifiers.ts';

/** What was last seen of an agent ID. Times are of this machine's clock. */
export interface AgentSighting {
  readonly agentId: string;
  readonly kind: 'ts' | 'go';
  readonly instance: string | undefined;
  readonly version: string | undefined;
  readonly identifiers: Identifiers;
  /** Of its last stream. */
  readonly remote: string;
  /** How long ago its first stream came. */
  readonly firstSeenAgoMs: number;
  /** Its last stream's end; undefined while it is connected. */
  readonly goneSinceUnixMs: number | undefined;
  /** Streams that it opened within the last ten minutes. */
  readonly connects: number;
}

/** What a stream tells of its agent. */
export interface SeenStream {
  readonly agentId: string;
  readonly ours: boolean;
  readonly instance: string | undefined;
  readonly version: string | undefined;
  readonly identifiers: Identifiers;
  readonly remote: string;
}

export interface SightingBounds {
  /** How long an agent that is gone is remembered. */
  readonly keepMs: number;
  /** How many that are gone are. */
  readonly mostGone: number;
  /** How far back connects are counted. */
  readonly countedMs: number;
}

export const defaultSightingBounds: SightingBounds = {
  keepMs: 3_600_000,
  mostGone: 10_000,
  countedMs: 600_000,
};

/** A flapping agent connects often: more than this many are not counted. */
const MOST_CONNECTS = 1_000;

interface Record {
  seen: SeenStream;
  streams: number;
  readonly firstSeenMonoMs: number;
  goneSinceUnixMs: number | undefined;
  goneSinceMonoMs: number;
  /** On the clock that never goes back, oldest first. */
  connectsMonoMs: number[];
}

/** Which agents are and were here: connected ones all, gone ones for a while. */
export class AgentSightings {
  readonly #clock: Clock;
  readonly #bounds: SightingBounds;
  readonly #records = new Map<string, Record>();
  /** Those that are gone, in the order in which they went. */
  readonly #gone = new Set<string>();
  readonly #onForgotten: (agentId: string) => void;

  /** @param onForgotten told of each ID that is forgotten, for whatever reason */
  constructor(
    clock: Clock,
    bounds: SightingBounds = defaultSightingBounds,
    onForgotten: (agentId: string) => void = () => {},
  ) {
    this.#clock = clock;
    this.#bounds = bounds;
    this.#onForgotten = onForgotten;
  }

  has(agentId: string): boolean {
    return this.#records.has(agentId);
  }

  of(agentId: string): AgentSighting | undefined {
    const record = this.#records.get(agentId);
    return record === undefined ? undefined : this.#sighting(agentId, record);
  }

  /** Agents that are gone, the longest first. */
  *gone(): Generator<AgentSighting> {
    for (const agentId of this.#gone) {
      yield this.#sighting(agentId, this.#records.get(agentId) as Record);
    }
  }

  connected(stream: SeenStream): void {
    const { agentId } = stream;
    let record = this.#records.get(agentId);
    if (record === undefined) {
      record = {
        seen: stream,
        streams: 0,
        firstSeenMonoMs: this.#clock.monoMs(),
        goneSinceUnixMs: undefined,
        goneSinceMonoMs: 0,
        connectsMonoMs: [],
      };
      this.#records.set(agentId, record);
    }
    const { ours, instance, version, identifiers, remote } = stream;
    // A copy: a stream that ended is not to be kept for this.
    record.seen = { agentId, ours, instance, version, identifiers, remote };
    record.streams++;
    record.goneSinceUnixMs = undefined;
    this.#gone.delete(agentId);
  }

  /** A stream stayed, and counts as a connect: not one that its agent closed again, since it has another here. */
  joined(agentId: string): void {
    const record = this.#records.get(agentId);
    if (record === undefined) return;
    const now = this.#clock.monoMs();
    record.connectsMonoMs = this.#counted(record.connectsMonoMs, now);
    if (record.connectsMonoMs.length < MOST_CONNECTS) record.connectsMonoMs.push(now);
  }

  disconnected(agentId: string): void {
    const record = this.#records.get(agentId);
    if (record === undefined || --record.streams > 0) return;
    record.goneSinceUnixMs = this.#clock.wallMs();
    record.goneSinceMonoMs = this.#clock.monoMs();
    this.#gone.add(agentId);
    if (this.#gone.size <= this.#bounds.mostGone) return;
    for (const oldest of this.#gone) {
      this.#forget(oldest);
      break;
    }
  }

  /** Forgets those that are gone for too long. @returns their IDs */
  expire(): string[] {
    const before = this.#clock.monoMs() - this.#bounds.keepMs;
    const forgotten: string[] = [];
    for (const agentId of this.#gone) {
      if ((this.#records.get(agentId) as Record).goneSinceMonoMs > before) break;
      this.#forget(agentId);
      forgotten.push(agentId);
    }
    return forgotten;
  }

  #forget(agentId: string): void {
    this.#gone.delete(agentId);
    this.#records.delete(agentId);
    this.#onForgotten(agentId);
  }

  #counted(times: readonly number[], now: number): number[] {
    return times.filter((at) => at > now - this.#bounds.countedMs);
  }

  #sighting(agentId: string, record: Record): AgentSighting {
    const { seen } = record;
    return {
      agentId,
      kind: seen.ours ? 'ts' : 'go',
      instance: seen.instance,
      version: seen.version,
      identifiers: seen.identifiers,
      remote: seen.remote,
      firstSeenAgoMs: this.#clock.monoMs() - record.firstSeenMonoMs,
      goneSinceUnixMs: record.goneSinceUnixMs,
      connects: this.#counted(record.connectsMonoMs, this.#clock.monoMs()).length,
    };
  }
}
