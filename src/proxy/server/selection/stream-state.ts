import type { Identifiers } from '../../wire/identifiers.ts';
import { Tier } from './tier.ts';

/** What selection has to know of a backend: one live `Connect` stream of an agent. */
export interface SelectableStream {
  readonly agentId: string;
  readonly identifiers: Identifiers;
  /** The agent's `kts-instance`: one run of an agent process of ours. A Go agent sends none. */
  readonly instance: string | undefined;
  /** Whether it sends STATUS, the first of which makes it choosable. */
  readonly announces: boolean;
}

/** The marks of one registered stream. Written by the StreamRegistry alone. */
export class StreamState {
  readonly stream: SelectableStream;
  /** When it was registered, on the registry's clock. */
  readonly registeredAtMs: number;
  draining = false;
  suspect = false;
  /** Our agents only: the first STATUS arrived. */
  announced = false;
  /** Go agents only: it outlived the wait of a second stream, or was never one. */
  settled = false;

  constructor(stream: SelectableStream, registeredAtMs: number) {
    this.stream = stream;
    this.registeredAtMs = registeredAtMs;
  }

  /** The tier by its marks alone, whether or not it may be chosen yet. */
  get markedTier(): Tier {
    return this.suspect ? Tier.suspect : this.draining ? Tier.draining : Tier.ready;
  }
}
