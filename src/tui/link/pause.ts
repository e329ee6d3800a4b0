import { setTimeout as sleep } from 'node:timers/promises';

/** Waits, or until the signal; never rejects. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
