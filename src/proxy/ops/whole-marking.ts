import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/** The largest heap that is marked in one go: some 30 ms of pause, at worst. */
export const WHOLE_MARKING_BYTES = 48 * 1024 * 1024;
const CHECK_MS = 10_000;

/** What the policy reads and sets; tests give their own. */
export interface Heap {
  usedBytes(): number;
  setFlag(flag: string): void;
}

const ownHeap: Heap = {
  usedBytes: () => getHeapStatistics().used_heap_size,
  setFlag: setFlagsFromString,
};

/**
 * Lets V8 mark a small heap in one go. A tunnel's bytes are buffers outside the heap, each a new one, and V8 begins to
 * mark after some megabytes of them: at 150 MB/s ten times a second, step by step beside two more threads, for a heap
 * of 9 MB. That took up to half of the CPU; in one go it is 5 ms now and then. A large heap is marked in steps, as V8
 * does by itself, because its pause would be felt.
 * @param argv where the operator's own word on the flag would be
 * @returns stops the checks
 */
export function markSmallHeapsWhole(argv: readonly string[], heap: Heap = ownHeap): () => void {
  if (argv.some((one) => /^--(no-?)?incremental[-_]marking/.test(one))) return () => {};
  let whole: boolean | undefined;
  const check = (): void => {
    const small = heap.usedBytes() < WHOLE_MARKING_BYTES;
    if (small === whole) return;
    whole = small;
    heap.setFlag(small ? '--no-incremental-marking' : '--incremental-marking');
  };
  check();
  const timer = setInterval(check, CHECK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
