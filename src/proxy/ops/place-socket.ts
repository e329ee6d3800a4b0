import { linkSync, renameSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { Fault } from './fault.ts';
import { underLock } from './replace-lock.ts';
import { type Occupant, probeUnixPath } from './unix-probe.ts';

export interface PlaceOptions {
  readonly replaceStale: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Gives the listening socket at `from` the name `path`. Who comes first wins, since linking never replaces; a stale
 * socket is replaced under a lock, so that of many servers starting at once none takes another's live socket.
 * Rejects with the Faults `socket-in-use`, `socket-stale`, `socket-occupied` and `socket-not-placed`.
 */
export async function placeSocket(
  from: string,
  path: string,
  label: string,
  options: PlaceOptions,
): Promise<void> {
  const where = `${label} ${path}`;
  if (moved(from, path, where) === 'done') return;
  refuse(await probeUnixPath(path), where, options.replaceStale);
  try {
    await underLock(`${path}.lock`, () => replace(from, path, where, options.replaceStale), {
      signal: options.signal,
    });
  } catch (error) {
    throw error instanceof Fault || options.signal?.aborted ? error : notPlaced(where, path, error);
  }
}

async function replace(from: string, path: string, where: string, replaceStale: boolean): Promise<void> {
  // Looked at again: what was stale before we had the lock may be somebody's live socket now.
  const occupant = await probeUnixPath(path);
  refuse(occupant, where, replaceStale);
  if (occupant.kind === 'stale') unlinkSync(path);
  const result = moved(from, path, where);
  if (result === 'done') return;
  if (result === 'occupied') {
    refuse(await probeUnixPath(path), where, false);
    throw new Fault('socket-in-use', `${where} was taken by another server just now`);
  }
  // No hard links here. Under the lock and right after a look, renaming comes next best.
  renameSync(from, path);
}

function moved(from: string, path: string, where: string): 'done' | 'occupied' | 'no-links' {
  try {
    linkSync(from, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return 'occupied';
    if (code === 'EPERM' || code === 'ENOTSUP' || code === 'EOPNOTSUPP' || code === 'ENOSYS')
      return 'no-links';
    throw notPlaced(where, path, error);
  }
  unlinkSync(from);
  return 'done';
}

function refuse(occupant: Occupant, where: string, replaceStale: boolean): void {
  switch (occupant.kind) {
    case 'nothing':
      return;
    case 'live':
      throw new Fault(
        'socket-in-use',
        `${where} is the socket of another process (${occupant.why})`,
        'stop that process or choose another path',
      );
    case 'stale':
      if (replaceStale) return;
      throw new Fault(
        'socket-stale',
        `${where} exists, though nobody listens on it, and deleting existing sockets is turned off`,
        'remove the file',
      );
    case 'other':
      throw new Fault(
        'socket-occupied',
        `${where} is taken by ${occupant.what}, which is never deleted`,
        'remove it or choose another path',
      );
    default:
      occupant satisfies never;
  }
}

function notPlaced(where: string, path: string, cause: unknown): Fault {
  const text = cause instanceof Error ? cause.message : String(cause);
  return new Fault('socket-not-placed', `${where} cannot be made in ${dirname(path)}: ${text}`, '', cause);
}
