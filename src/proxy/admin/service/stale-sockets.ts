import { readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { underLock } from '../../ops/replace-lock.ts';
import { probeUnixPath } from '../../ops/unix-probe.ts';
import { ADMIN_SOCKET_NAMES } from '../model/admin-places.ts';

/** At one start; the next one takes the rest. */
const MOST_AT_ONCE = 100;

/**
 * Removes admin sockets on which nobody listens any more: a killed server that had an ID of its own making leaves one
 * that no other server ever replaces. Never fails, and never takes one that is being made.
 */
export async function removeStaleSockets(directory: string): Promise<void> {
  for (const name of namesIn(directory)) {
    const path = join(directory, name);
    try {
      if ((await probeUnixPath(path)).kind !== 'stale') continue;
      // As for a server that takes this name: what was stale may be somebody's by now.
      await underLock(`${path}.lock`, async () => {
        if ((await probeUnixPath(path)).kind === 'stale') unlinkSync(path);
      });
    } catch {
      // Somebody else removed it, or it stays.
    }
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => ADMIN_SOCKET_NAMES.test(name))
      .slice(0, MOST_AT_ONCE);
  } catch {
    return [];
  }
}
