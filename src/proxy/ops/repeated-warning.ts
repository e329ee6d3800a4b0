import type { Fields, Log } from './log.ts';

const EVERY_MS = 60_000;
/** More kinds than this are an attack on the map: all of them then count as one. */
const MOST_KINDS = 100;

/** A warning that outsiders can cause at will: the first of a kind is logged, the others are counted for a minute. */
export class RepeatedWarning {
  readonly #log: Log;
  readonly #now: () => number;
  readonly #kinds = new Map<string, { silentUntilMs: number; suppressed: number }>();

  constructor(log: Log, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  /** Logs `message`, unless one of the same kind was logged within the last minute. */
  warn(kind: string, message: string, fields: Fields = {}): void {
    const key = this.#kinds.has(kind) || this.#kinds.size < MOST_KINDS ? kind : '';
    const state = this.#kinds.get(key) ?? { silentUntilMs: Number.NEGATIVE_INFINITY, suppressed: 0 };
    this.#kinds.set(key, state);
    if (this.#now() < state.silentUntilMs) {
      state.suppressed++;
      return;
    }
    const more = state.suppressed === 0 ? {} : { alsoSinceLastLine: state.suppressed };
    state.silentUntilMs = this.#now() + EVERY_MS;
    state.suppressed = 0;
    this.#log.warning(message, { ...fields, ...more });
  }
}
