/** A read of so many bytes was never typed: terminals, and what is between, hand on a paste in blocks of that or more. */
const BLOCK_BYTES = 256;
/** So long after a block, what comes may be its rest. */
const AFTER_BLOCK_MS = 500;
/** Nobody types two keys within that; a slow line hands on a paste byte by byte. */
const BETWEEN_KEYS_MS = 3;

/**
 * Tells a key that was typed from the end of a paste that its terminal did not mark, or that held the end of its mark:
 * where a paste is cut into blocks, its last byte may come as a read of its own.
 */
export class TypingPace {
  #readMs = Number.NEGATIVE_INFINITY;
  #blockMs = Number.NEGATIVE_INFINITY;

  /** Takes note of a read. @returns whether it may have been typed */
  read(bytes: number, nowMs: number): boolean {
    const typed =
      bytes < BLOCK_BYTES &&
      nowMs - this.#readMs >= BETWEEN_KEYS_MS &&
      nowMs - this.#blockMs >= AFTER_BLOCK_MS;
    this.#readMs = nowMs;
    if (bytes >= BLOCK_BYTES) this.#blockMs = nowMs;
    return typed;
  }
}
