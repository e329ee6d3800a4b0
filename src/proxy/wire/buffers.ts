/** Bounds of what tunnels may buffer towards slow readers. */
export interface BufferBounds {
  /** Above this the tunnel is closed when its reader took nothing for `stallMs`. */
  readonly softBytes: number;
  /** Above this the tunnel is closed at once. */
  readonly hardBytes: number;
  readonly stallMs: number;
  /** What all tunnels of the process may hold together (--buffer-budget-bytes). */
  readonly budgetBytes: number;
}

export const defaultBufferBounds: BufferBounds = {
  softBytes: 16 * 1024 * 1024,
  hardBytes: 64 * 1024 * 1024,
  stallMs: 30_000,
  budgetBytes: 512 * 1024 * 1024,
};

/** Someone who holds bytes for a slow reader. */
export interface BufferHolder {
  /** What it holds now, in bytes of memory. */
  readonly heldBytes: number;
  /** Closes its tunnel as `slow-consumer`. */
  giveUp(): void;
}

/**
 * What all tunnels of a process hold together, against one budget. When it is exceeded, the largest holder pays with
 * its tunnel; windows grow, and reads ahead are made, only as long as all that was promised fits the budget.
 */
export class Buffers {
  readonly bounds: BufferBounds;
  /** Held for slow readers now. */
  heldBytes = 0;
  /** Room beyond first windows that was promised to senders and reads ahead. */
  promisedBytes = 0;
  readonly #holders = new Set<BufferHolder>();

  constructor(bounds: BufferBounds) {
    this.bounds = bounds;
  }

  enter(holder: BufferHolder): void {
    this.#holders.add(holder);
  }

  /** What it held is counted out by its owner before. */
  leave(holder: BufferHolder): void {
    this.#holders.delete(holder);
  }

  /** A holder holds that many bytes more (or, negative, less). */
  changed(bytes: number): void {
    this.heldBytes += bytes;
    if (bytes > 0 && this.heldBytes > this.bounds.budgetBytes) this.#largest()?.giveUp();
  }

  /** Asks for room; true when it was granted, and must be released. */
  promise(bytes: number): boolean {
    if (this.promisedBytes + bytes > this.bounds.budgetBytes) return false;
    this.promisedBytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.promisedBytes -= bytes;
  }

  #largest(): BufferHolder | undefined {
    let largest: BufferHolder | undefined;
    for (const holder of this.#holders) {
      if (holder.heldBytes > (largest?.heldBytes ?? 0)) largest = holder;
    }
    return largest;
  }
}
