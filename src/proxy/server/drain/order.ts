/** A moment in the future: on the clock that never goes back while this process runs, and for people and files. */
export interface Deadline {
  readonly monoMs: number;
  readonly unixMs: number;
}

/** An operator's drain order for an agent ID. Never changed in place: an update is another object. */
export interface Order {
  /** 1 to 64 characters of A-Z, a-z, 0-9, `_` and `-`. */
  readonly id: string;
  readonly agentId: string;
  /** 1, and one more with each update. */
  readonly version: number;
  readonly actor: string;
  /** The actor is what the client of a Unix socket says of itself. */
  readonly actorClaimed: boolean;
  readonly reason: string;
  /** When it was placed; for people only. */
  readonly sinceUnixMs: number;
  readonly deadline: Deadline | undefined;
  /** What happens to the tunnels that are left at the deadline. */
  readonly atDeadline: 'keep' | 'close';
  /** `restart`: it ends when another instance than `instance` connects. */
  readonly until: 'undrain' | 'restart';
  readonly instance: string | undefined;
  /** The deadline passed, and what it asks for was done here. */
  readonly overdue: boolean;
}

/** Who changes something, and whether that is only what they say. */
export interface Actor {
  readonly name: string;
  readonly claimed: boolean;
}

/** Deadlines that differ by less are taken for one: each is carried as the time that remains, and travels. */
const SAME_DEADLINE_MS = 5_000;

/** Whether two orders ask for the same, whatever their ID and version. */
export function sameTerms(a: Order, b: Order): boolean {
  return (
    a.actor === b.actor &&
    a.actorClaimed === b.actorClaimed &&
    a.reason === b.reason &&
    a.atDeadline === b.atDeadline &&
    a.until === b.until &&
    sameDeadline(a.deadline, b.deadline)
  );
}

/** @param toleranceMs how far apart they may be */
export function sameDeadline(
  a: Deadline | undefined,
  b: Deadline | undefined,
  toleranceMs = SAME_DEADLINE_MS,
): boolean {
  if (a === undefined || b === undefined) return a === b;
  return Math.abs(a.monoMs - b.monoMs) <= toleranceMs;
}
