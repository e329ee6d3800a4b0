import { setTimeout as delay } from 'node:timers/promises';
import { type Entry, nowMs } from '../messages.ts';
import { Echo } from './echo.ts';

const PAUSE_MS = 2;

/** Dials, again after a refusal, until one message came back. @throws Error the last refusal, after `timeoutMs` */
export async function firstEcho(entry: Entry, port: number, timeoutMs: number): Promise<number> {
  const giveUpMs = nowMs() + timeoutMs;
  for (;;) {
    const echo = new Echo({ entry, port, tunnels: 1 });
    try {
      await echo.start();
      const closed = echo.stop();
      // Stopping, it closes its tunnel with the first answer that comes.
      await closed;
      return nowMs();
    } catch (error) {
      if (nowMs() > giveUpMs) throw error;
      await delay(PAUSE_MS);
    }
  }
}
