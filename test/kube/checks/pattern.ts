import { createHash } from 'node:crypto';

/** What the fake kubelet sends as `length` bytes: the alphabet in lines of 64, anew each 32 KiB. */
export function pattern(length: number): Buffer {
  const block = Buffer.alloc(32_768);
  for (let i = 0; i < block.length; i++) block[i] = i % 64 === 63 ? 10 : 97 + (i % 26);
  return Buffer.alloc(length, block);
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
