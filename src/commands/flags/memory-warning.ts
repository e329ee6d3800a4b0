const MIB = 1024 * 1024;
/** Of the memory, what the heap may become; the rest is for buffers, code and stacks. */
const HEAP_SHARE = 0.6;

/**
 * What the operator should know of the memory limit; nothing when it suffices. The limits of upstream's manifests are
 * made for Go: Node.js takes some 55 MiB before the first tunnel. And V8 lets its heap grow to some 259 MiB however
 * small the limit is, which ends in a kill instead of a garbage collection; a process cannot change that for itself.
 * @param memoryBytes the limit of the cgroup, else the machine's memory
 * @param heapLimitBytes what V8 lets the heap become
 */
export function memoryWarnings(memoryBytes: number, heapLimitBytes: number, leastMib: number): string[] {
  const mib = Math.floor(memoryBytes / MIB);
  const warnings: string[] = [];
  if (mib < leastMib) {
    warnings.push(
      `the memory limit is ${mib} MiB: give at least ${leastMib} MiB, since Node.js needs more than Go`,
    );
  }
  if (heapLimitBytes > memoryBytes * 0.9) {
    const heap = Math.floor(mib * HEAP_SHARE);
    warnings.push(
      `the heap may grow to ${Math.floor(heapLimitBytes / MIB)} MiB, but the memory limit is ${mib} MiB: set NODE_OPTIONS=--max-old-space-size=${heap}`,
    );
  }
  return warnings;
}
