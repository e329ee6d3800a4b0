import type { Writable } from 'node:stream';
import { noticeLine } from './klog-format.ts';

/** What a reader that does not read (a stuck log collector) may keep waiting here. */
const MOST_PENDING_BYTES = 1024 * 1024;

/**
 * Writes lines to a stream such as standard error. A stream that takes nothing makes lines be dropped and counted, and
 * so does a file on a full disk, until there is room; one whose reader is gone is given up: logging never stops or ends
 * the process.
 */
export function streamLines(
  stream: Writable,
  mostPendingBytes = MOST_PENDING_BYTES,
  format: 'text' | 'json' = 'text',
): (line: string) => void {
  let dropped = 0;
  let broken = false;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    broken = error.code === 'EPIPE' || stream.destroyed;
  });
  return (line) => {
    if (broken) return;
    if (stream.writableLength + line.length > mostPendingBytes) {
      dropped++;
      return;
    }
    if (dropped > 0) stream.write(noticeLine(`${dropped} log lines were dropped: nobody read them`, format));
    dropped = 0;
    stream.write(line);
  };
}
