import type { Writable } from 'node:stream';

/** What a reader that does not read (a stuck log collector) may keep waiting here. */
const MOST_PENDING_BYTES = 1024 * 1024;

/**
 * Writes lines to a stream such as standard error. A stream that takes nothing makes lines be dropped and counted, one
 * that fails is given up: logging never stops or ends the process.
 */
export function streamLines(stream: Writable, mostPendingBytes = MOST_PENDING_BYTES): (line: string) => void {
  let dropped = 0;
  let broken = false;
  stream.on('error', () => {
    broken = true;
  });
  return (line) => {
    if (broken) return;
    if (stream.writableLength + line.length > mostPendingBytes) {
      dropped++;
      return;
    }
    if (dropped > 0) stream.write(`${dropped} log lines were dropped: nobody read them\n`);
    dropped = 0;
    stream.write(line);
  };
}
