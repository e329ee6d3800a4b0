import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../../ops/fault.ts';
import { listenUnix } from '../../ops/listen-unix.ts';
import type { Log } from '../../ops/log.ts';

/** What holds a directory until it is closed. */
export interface DirectoryLock {
  close(): Promise<void>;
}

/**
 * Takes the state directory for this process: two servers that write one file would lose each other's orders. The lock
 * is a Unix socket that listens, which no process leaves behind for longer than it lives, in whatever container. Where
 * the file system has no sockets, or the path is too long for one, a warning says that nothing is locked.
 * @throws Fault `state-directory` when another server has it
 */
export async function lockDirectory(directory: string, log: Log): Promise<DirectoryLock | undefined> {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch {
    // There already, or said when the orders are read.
  }
  try {
    return await listenUnix({
      path: join(directory, 'lock'),
      label: 'the lock of --state-dir',
      umask: 0o177,
      log,
      onConnection: (socket) => socket.destroy(),
    });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (error.code === 'socket-in-use') {
      throw new Fault(
        'state-directory',
        `--state-dir ${directory} is in use by another server`,
        'give each server a directory of its own',
        error,
      );
    }
    // What is no directory is refused when the orders are read.
    if (error.code !== 'socket-directory-missing' && isDirectory(directory)) {
      log.warning('--state-dir is not locked: no other server may use it', { reason: error.line });
    }
    return undefined;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
