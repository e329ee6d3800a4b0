import { createCipheriv } from 'node:crypto';

/** Prime, so that no block size divides it; the same bytes in every process. */
const LENGTH = 1_048_573;
const APART = 7919;
const BYTES = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(LENGTH));

/**
 * Bytes of stream `seed` from `offset` on: at least one, at most `maxBytes`. A view of memory that is not to be changed.
 * Two streams, or a stream and itself some bytes on, have no run of equal bytes worth the name.
 */
export function patternView(seed: number, offset: number, maxBytes: number): Buffer {
  const at = (seed * APART + offset) % LENGTH;
  return BYTES.subarray(at, Math.min(LENGTH, at + maxBytes));
}

/** Whether `bytes` are those of stream `seed` from `offset` on. */
export function matchesPattern(seed: number, offset: number, bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; ) {
    const wanted = patternView(seed, offset + at, bytes.length - at);
    if (!wanted.equals(bytes.subarray(at, at + wanted.length))) return false;
    at += wanted.length;
  }
  return true;
}
