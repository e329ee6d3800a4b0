import type { Packet } from './packet.ts';

/** Time constants of the probes; tests shrink them. */
export interface ProbeTimes {
  /** A stream on which nothing arrived for this long is probed; any stream, until its round trip is known. */
  readonly intervalMs: number;
  /** The same, while a dial waits for it; default a tenth of that. */
  readonly awaitedMs?: number;
  /** Without an answer for this long the stream is suspect. */
  readonly suspectMs: number;
  /** The same, for the older streams of an agent ID of which a new one arrived. */
  readonly urgentSuspectMs: number;
  /** Without an answer for this long the stream is given up. */
  readonly deadMs: number;
}

export const defaultProbeTimes: ProbeTimes = {
  intervalMs: 10_000,
  suspectMs: 5_000,
  urgentSuspectMs: 1_000,
  deadMs: 15_000,
};

/** The stream that is watched. */
export interface ProbeTarget {
  /** Set by every packet that arrives. */
  heard: boolean;
  /** When set, called with every packet that arrives. */
  onHeard: ((packet: Packet) => void) | undefined;
  /**
   * Asks the peer for any answer. `answered` may be called with the round trip in milliseconds by ways other than
   * a packet. False: this peer cannot be asked.
   */
  ask(number: number, answered: (roundTripMs: number) => void): boolean;
  /** Whether `packet` is the answer to ask(number), for the round trip. */
  isAnswer(packet: Packet, number: number): boolean;
}

/** What a probe finds out about its stream. */
export interface ProbeEvents {
  /** No answer in time, or (false) a sign of life after all. */
  onSuspect(suspect: boolean): void;
  /** Nothing for too long: the owner ends the stream. */
  onDead(): void;
  /** The round trip is known from now on. */
  onMeasured?(): void;
}

/** Watches one stream: asks when it is silent, says when it owes an answer. One timer per stream. */
export class Probe {
  /** The last round trip in milliseconds, if one was measured. */
  roundTripMs: number | undefined;
  readonly #target: ProbeTarget;
  readonly #times: ProbeTimes;
  readonly #events: ProbeEvents;
  #number = 0;
  #askedAtMs: number | undefined;
  #suspect = false;
  /** The next look is an early one; and so is the one behind it. */
  #lookingSoon = false;
  #lookAgain = false;
  /** When it was asked last, or opened, on performance.now()'s clock: looks begin anew with dials, this does not. */
  #lastQuestionMs = performance.now();
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(target: ProbeTarget, times: ProbeTimes, events: ProbeEvents) {
    this.#target = target;
    this.#times = times;
    this.#events = events;
    this.#rest();
  }

  /** Asks at once; unanswered after `urgentSuspectMs` the stream is suspect. */
  askUrgently(): void {
    this.#ask(this.#times.urgentSuspectMs);
  }

  /** Somebody waits for an answer of this stream: from now on silence counts sooner. Cheap when it is said often. */
  awaited(): void {
    if (this.#askedAtMs !== undefined || this.#suspect) return;
    // What was heard earlier in the look that is under way says nothing of this one.
    if (this.#lookingSoon) this.#lookAgain = true;
    else this.#lookSoon();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#target.onHeard = undefined;
  }

  #set(afterMs: number, action: () => void): void {
    clearTimeout(this.#timer);
    if (!this.#stopped) this.#timer = setTimeout(action, afterMs).unref();
  }

  #rest(): void {
    this.#look(this.#times.intervalMs);
  }

  #lookSoon(): void {
    const { intervalMs, awaitedMs = intervalMs / 10 } = this.#times;
    this.#look(awaitedMs);
    this.#lookingSoon = true;
  }

  /** Looks after that time whether anything arrived. */
  #look(afterMs: number): void {
    this.#lookingSoon = false;
    this.#lookAgain = false;
    this.#target.heard = false;
    // Of one that is never silent the round trip would never be known.
    const dueInMs = this.#lastQuestionMs + this.#times.intervalMs - performance.now();
    const measures = this.roundTripMs === undefined && dueInMs <= afterMs;
    this.#set(measures ? Math.max(1, dueInMs) : afterMs, () => {
      const unmeasured = measures && this.roundTripMs === undefined;
      if (!this.#target.heard || unmeasured) this.#ask(this.#times.suspectMs);
      else if (this.#lookAgain) this.#lookSoon();
      else this.#rest();
    });
  }

  #ask(suspectMs: number): void {
    // A stream that is suspect already has its last timer running.
    if (this.#suspect) return;
    this.#lastQuestionMs = performance.now();
    let waitedMs = 0;
    if (this.#askedAtMs !== undefined) waitedMs = performance.now() - this.#askedAtMs;
    else {
      const number = ++this.#number;
      const askedAtMs = performance.now();
      if (!this.#target.ask(number, (roundTripMs) => this.#answered(roundTripMs))) {
        this.#rest();
        return;
      }
      this.#askedAtMs = askedAtMs;
      this.#target.onHeard = (packet) => {
        if (this.#target.isAnswer(packet, number)) this.#answered(performance.now() - askedAtMs);
        else this.#alive();
      };
    }
    // Asking again never gives a silent stream more time.
    this.#set(Math.max(1, suspectMs - waitedMs), () => this.#overdue());
  }

  #overdue(): void {
    if (!this.#suspect) {
      this.#suspect = true;
      this.#events.onSuspect(true);
    }
    const waitedMs = performance.now() - (this.#askedAtMs ?? 0);
    this.#set(Math.max(1, this.#times.deadMs - waitedMs), () => this.#events.onDead());
  }

  #answered(roundTripMs: number): void {
    const isFirst = this.roundTripMs === undefined;
    this.roundTripMs = roundTripMs;
    this.#target.onHeard = undefined;
    if (isFirst) this.#events.onMeasured?.();
    this.#alive();
  }

  /** Any packet ends the doubt; the answer, which may come behind others, is still listened for. */
  #alive(): void {
    if (this.#stopped || this.#askedAtMs === undefined) return;
    this.#askedAtMs = undefined;
    if (this.#suspect) {
      this.#suspect = false;
      this.#events.onSuspect(false);
    }
    this.#rest();
  }
}
