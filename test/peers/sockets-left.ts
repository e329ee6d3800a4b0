import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';

const GIVE_UP_MS = 10_000;

/** TCP sockets and listeners that this process has open. */
export function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => /^(TCP|TLS)/.test(name)).length;
}

/** The same, also of sockets that neither read nor write, which Node does not count; Linux only. */
export function socketDescriptors(): number {
  const isSocket = (fd: string): boolean => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:');
    } catch {
      return false;
    }
  };
  return readdirSync('/proc/self/fd').filter(isSocket).length;
}

/** Resolves when no more than `before` are open; fails when some stay. */
export async function noSocketsLeft(before = 0): Promise<void> {
  await until(() => openSockets() <= before, `all sockets closed but ${before}`);
}

/** Resolves when `condition` holds; for state that no event tells of. */
export async function until(condition: () => boolean, what: string, giveUpMs = GIVE_UP_MS): Promise<void> {
  const startedMs = performance.now();
  while (!condition()) {
    assert.ok(performance.now() - startedMs < giveUpMs, `never came: ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
