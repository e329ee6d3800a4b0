import { setTimeout as delay } from 'node:timers/promises';
import { rssBytes } from './process-usage.ts';

const LOOK_MS = 250;

/**
 * What each process holds when it rests: the least of the second half of `ms`. A runtime collects its garbage some
 * seconds after the load is over, and by itself; nothing here can make it.
 */
export async function restingMemory(pids: readonly number[], ms: number): Promise<number[]> {
  await delay(ms / 2);
  let least = pids.map(rssBytes);
  for (const endMs = performance.now() + ms / 2; performance.now() < endMs; ) {
    await delay(LOOK_MS);
    least = least.map((bytes, i) => Math.min(bytes, rssBytes(pids[i] as number)));
  }
  return least;
}
