import { Fault } from './fault.ts';

/** What sun_path holds on Linux, without its closing zero. */
export const MAX_UNIX_PATH_BYTES = 107;

/**
 * Throws a Fault when `path` cannot be a Unix socket's address, for listeners and clients alike: Node cuts longer
 * paths in silence and then works on another file. `label` is the flag that gave the path.
 */
export function checkUnixPath(path: string, label: string): void {
  if (path === '')
    throw new Fault('socket-path-empty', `${label} is empty`, 'give the path of a Unix socket');
  if (path.includes('\0')) throw new Fault('socket-path-bad', `${label} ${path} contains a zero byte`);
  const bytes = Buffer.byteLength(path);
  if (bytes <= MAX_UNIX_PATH_BYTES) return;
  throw new Fault(
    'socket-path-too-long',
    `${label} ${path} is ${bytes} bytes long, and a Unix socket's path has room for ${MAX_UNIX_PATH_BYTES}`,
    'choose a shorter path',
  );
}
