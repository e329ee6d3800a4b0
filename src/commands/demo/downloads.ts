import { setTimeout as sleep } from 'node:timers/promises';
import { startDownload } from './download.ts';
import type { Scene } from './scene.ts';

const BYTES_PER_SECOND = 48 * 1024;
/** Of the first one; each agent's is a little longer, so that they do not end together. */
const SECONDS = 25;
const LONGER_SECONDS = 7;
const PAUSE_MS = 3_000;

/** Slow downloads for each agent, one after the other, until the signal: tunnels to be seen, and to be waited for. */
export async function keepDownloading(scene: Scene, signal: AbortSignal): Promise<void> {
  await Promise.all(
    [...scene.agents.keys()].map((id, i) => one(scene, id, SECONDS + i * LONGER_SECONDS, signal)),
  );
}

async function one(scene: Scene, id: string, seconds: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // One that fails, because its agent was stopped, is no news: the requests beside it tell.
    await startDownload(scene, id, seconds * BYTES_PER_SECOND, BYTES_PER_SECOND, signal).ended.catch(
      () => {},
    );
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
}
