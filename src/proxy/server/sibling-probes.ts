/** A stream that can be asked for a sign of life. */
interface Askable {
  askUrgently(): void;
}

interface Family<S> {
  /** Oldest first. */
  readonly streams: S[];
  askedAtMs: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * The streams of each agent ID. When one comes beside older ones, these may be half-open and are asked at once; of many
 * that come in a row, all are asked once in a while, so that n streams of one ID do not cause n^2 probes.
 */
export class SiblingProbes<S> {
  readonly #families = new Map<string, Family<S>>();
  readonly #probeOf: (stream: S) => Askable | undefined;
  readonly #everyMs: number;

  /** @param everyMs the least time between two rounds of one agent ID */
  constructor(probeOf: (stream: S) => Askable | undefined, everyMs: number) {
    this.#probeOf = probeOf;
    this.#everyMs = everyMs;
  }

  /** A new stream of that agent ID: the older ones are asked now, or with the next round. */
  add(agentId: string, stream: S): void {
    const family = this.#families.get(agentId);
    if (family === undefined) {
      this.#families.set(agentId, {
        streams: [stream],
        askedAtMs: Number.NEGATIVE_INFINITY,
        timer: undefined,
      });
      return;
    }
    const waitMs = family.askedAtMs + this.#everyMs - performance.now();
    if (waitMs <= 0) this.#ask(family);
    else family.timer ??= setTimeout(() => this.#ask(family), waitMs).unref();
    family.streams.push(stream);
  }

  count(agentId: string): number {
    return this.#families.get(agentId)?.streams.length ?? 0;
  }

  remove(agentId: string, stream: S): void {
    const family = this.#families.get(agentId);
    const at = family?.streams.indexOf(stream) ?? -1;
    if (family === undefined || at < 0) return;
    family.streams.splice(at, 1);
    if (family.streams.length > 0) return;
    clearTimeout(family.timer);
    this.#families.delete(agentId);
  }

  #ask(family: Family<S>): void {
    clearTimeout(family.timer);
    family.timer = undefined;
    family.askedAtMs = performance.now();
    for (const stream of family.streams) this.#probeOf(stream)?.askUrgently();
  }
}
