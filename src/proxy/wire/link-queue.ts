/** What waits of one tunnel: a payload to be framed, or a frame that is sent as it stands. */
export interface Waiting {
  readonly bytes: Buffer;
  readonly framed: boolean;
  /** Payload, in bytes; 0 for a packet that closes. */
  readonly payloadBytes: number;
}

/** Whoever sends through a queue. */
export interface LinkQueueOwner {
  /** The last packet went: the source may go on. */
  onLinkFree(): void;
}

/** The packets of one tunnel that wait for the link, in order. Its source is paused while there are any. */
export class LinkQueue {
  readonly connectId: number;
  /** Where it is in the link's round; a queue that was just served stays there, so that bulk never counts as new. */
  place: 'none' | 'new' | 'old' = 'none';
  readonly #owner: LinkQueueOwner;
  #waiting: Waiting[] = [];
  #head = 0;

  constructor(connectId: number, owner: LinkQueueOwner) {
    this.connectId = connectId;
    this.#owner = owner;
  }

  get empty(): boolean {
    return this.#head === this.#waiting.length;
  }

  push(one: Waiting): void {
    this.#waiting.push(one);
  }

  shift(): Waiting | undefined {
    const one = this.#waiting[this.#head];
    if (one === undefined) return undefined;
    this.#head++;
    if (this.empty) this.#reset();
    return one;
  }

  /** Told by the link after a turn that left nothing. */
  served(): void {
    this.#owner.onLinkFree();
  }

  clear(): void {
    this.#reset();
  }

  #reset(): void {
    if (this.#head > 64) this.#waiting = [];
    else this.#waiting.length = 0;
    this.#head = 0;
  }
}
