import type { Socket } from 'node:net';
import { nowMs } from '../messages.ts';

/** What a direction holds at most; at 20 ms, enough for 3 GB/s. Beyond it the sender waits. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;

interface Held {
  readonly dueMs: number;
  /** Undefined: the end. */
  readonly bytes: Buffer | undefined;
}

/** Passes on what `from` sends, `delayMs` later, as a long wire of any width would. Ends are delayed as well. */
export function pipeDelayed(from: Socket, to: Socket, delayMs: number): void {
  let held: Held[] = [];
  let next = 0;
  let heldBytes = 0;
  let blocked = false;
  let timer: NodeJS.Timeout | undefined;

  const pass = (): void => {
    timer = undefined;
    const now = nowMs();
    to.cork();
    for (let item = held[next]; item !== undefined && !blocked && item.dueMs <= now; item = held[next]) {
      next++;
      if (item.bytes === undefined) to.end();
      else {
        heldBytes -= item.bytes.length;
        blocked = !to.write(item.bytes);
      }
    }
    to.uncork();
    if (next === held.length) {
      held = [];
      next = 0;
    }
    if (heldBytes < MAX_HELD_BYTES) from.resume();
    schedule();
  };
  const schedule = (): void => {
    const item = held[next];
    if (item === undefined || blocked || timer !== undefined) return;
    timer = setTimeout(pass, Math.max(0, item.dueMs - nowMs()));
  };
  const hold = (bytes: Buffer | undefined): void => {
    held.push({ dueMs: nowMs() + delayMs, bytes });
    schedule();
  };

  from.on('data', (bytes) => {
    heldBytes += bytes.length;
    if (heldBytes >= MAX_HELD_BYTES) from.pause();
    hold(bytes);
  });
  from.on('end', () => hold(undefined));
  to.on('drain', () => {
    blocked = false;
    pass();
  });
  from.on('error', () => to.destroy());
  to.on('close', () => {
    clearTimeout(timer);
    held = [];
    next = 0;
    // One that ended takes what is still held of the other direction.
    if (!from.readableEnded) from.destroy();
  });
}
