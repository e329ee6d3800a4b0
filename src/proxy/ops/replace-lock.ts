import { closeSync, openSync, statSync, unlinkSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

const RETRY_MS = 20;

/**
 * Runs `work` while no other process runs one under the same lock file, which must be beside what is guarded.
 * A lock older than `abandonedMs` belongs to a process that was killed inside `work`, which takes milliseconds, and
 * is taken over. Rejects with what the file system says if the file cannot be made.
 */
export async function underLock<T>(
  lockPath: string,
  work: () => Promise<T>,
  { abandonedMs = 5_000, signal }: { abandonedMs?: number; signal?: AbortSignal | undefined } = {},
): Promise<T> {
  while (!tryTake(lockPath)) {
    const madeMs = statSync(lockPath, { throwIfNoEntry: false })?.mtimeMs;
    if (madeMs === undefined) continue;
    // A date in the future (the clock was set back) must not block us for good.
    if (Math.abs(Date.now() - madeMs) > abandonedMs) remove(lockPath);
    else await wait(RETRY_MS, undefined, signal === undefined ? {} : { signal });
  }
  try {
    return await work();
  } finally {
    remove(lockPath);
  }
}

function tryTake(lockPath: string): boolean {
  try {
    closeSync(openSync(lockPath, 'wx', 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
