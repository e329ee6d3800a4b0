import type { Fields, Log } from './log.ts';

const EVERY_MS = 60_000;
/** More kinds than this are an attack on the map: all of them then count as one. */
const MOST_KINDS = 100;

interface Kind {
  /** Lines that may still be printed before the window ends. */
  left: number;
  suppressed: number;
  last: () => void;
  readonly timer: NodeJS.Timeout;
}

export interface RepeatedLineOptions {
  /** Lines of one kind that are printed within a window; default 1. */
  readonly burst?: number;
  /** Default one minute. */
  readonly everyMs?: number;
}

/**
 * Lines that outsiders can cause at will: the first of a kind within a minute are printed, the others counted. When
 * the minute is over, the last of them is printed with that count.
 */
export class RepeatedLine {
  readonly #log: Log;
  readonly #burst: number;
  readonly #everyMs: number;
  readonly #kinds = new Map<string, Kind>();

  constructor(log: Log, { burst = 1, everyMs = EVERY_MS }: RepeatedLineOptions = {}) {
    this.#log = log;
    this.#burst = burst;
    this.#everyMs = everyMs;
  }

  /** A warning, unless enough of the same kind were printed in this window. */
  warn(kind: string, message: string, fields: Fields = {}): void {
    this.#print(kind, (more) => this.#log.warning(message, { ...fields, ...more }));
  }

  /** An info line likewise. */
  info(kind: string, verbosity: number, message: string, fields: Fields = {}): void {
    if (!this.#log.enabled(verbosity)) return;
    this.#print(kind, (more) => this.#log.info(verbosity, message, { ...fields, ...more }));
  }

  #print(wanted: string, print: (more: Fields) => void): void {
    const key = this.#kinds.has(wanted) || this.#kinds.size < MOST_KINDS ? wanted : '';
    const kind = this.#kinds.get(key) ?? this.#begin(key);
    kind.last = () => print({ timesSinceLastLine: kind.suppressed });
    if (kind.left > 0) {
      kind.left--;
      print({});
    } else kind.suppressed++;
  }

  #begin(key: string): Kind {
    const timer = setTimeout(() => this.#over(key), this.#everyMs).unref();
    const kind: Kind = { left: this.#burst, suppressed: 0, last: () => {}, timer };
    this.#kinds.set(key, kind);
    return kind;
  }

  /** A window is over: a kind that had more goes on with a new one, in which only the count is printed. */
  #over(key: string): void {
    const kind = this.#kinds.get(key);
    if (kind === undefined) return;
    if (kind.suppressed === 0) {
      this.#kinds.delete(key);
      return;
    }
    kind.last();
    kind.suppressed = 0;
    kind.left = 0;
    kind.timer.refresh();
  }
}
