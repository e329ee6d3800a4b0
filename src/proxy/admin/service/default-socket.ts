import { lstatSync, mkdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { Fault } from '../../ops/fault.ts';
import { listenUnix } from '../../ops/listen-unix.ts';
import type { Listener, ListenerOptions } from '../../ops/listener.ts';
import { ADMIN_SOCKET, type AdminPlaceFacts, ownAdminDirectory } from '../model/admin-places.ts';
import { removeStaleSockets } from './stale-sockets.ts';

/** Nobody but the owner: rw-------. */
export const OWNER_ONLY_UMASK = 0o177;

/**
 * Listens where clients look by default; a second server of this user on the host beside the first, under its ID.
 * @throws Fault
 */
export async function listenDefaultSocket(
  facts: AdminPlaceFacts,
  serverId: string,
  options: Omit<ListenerOptions<Socket>, 'label'>,
): Promise<Listener> {
  const directory = ownAdminDirectory(facts);
  makeDirectory(directory, facts.uid);
  await removeStaleSockets(directory);
  const listen = (name: string): Promise<Listener> =>
    listenUnix({
      ...options,
      path: join(directory, name),
      label: 'the default admin socket',
      umask: OWNER_ONLY_UMASK,
    });
  try {
    return await listen(ADMIN_SOCKET);
  } catch (error) {
    if (!(error instanceof Fault && error.code === 'socket-in-use')) throw error;
    return await listen(`admin-${serverId.replace(/[^\w.-]/g, '_')}.sock`);
  }
}

/** In a directory for everybody, somebody else may have made ours first, to answer in our place. */
function makeDirectory(directory: string, uid: number | undefined): void {
  const refuse = (why: string, remedy: string, cause?: unknown): never => {
    throw new Fault('admin-directory-unsafe', `the directory ${directory} ${why}`, remedy, cause);
  };
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    refuse(`cannot be made (${(error as NodeJS.ErrnoException).code})`, 'give --admin-socket PATH', error);
  }
  const found = lstatSync(directory);
  if (!found.isDirectory()) refuse('is no directory', 'remove it, or give --admin-socket PATH');
  if (uid !== undefined && found.uid !== uid) {
    refuse(`belongs to another user (uid ${found.uid})`, 'remove it, or give --admin-socket PATH');
  }
  if ((found.mode & 0o022) !== 0) {
    refuse('can be written to by others', `chmod 700 ${directory}, or give --admin-socket PATH`);
  }
}
