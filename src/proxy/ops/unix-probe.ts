import { lstatSync, readlinkSync } from 'node:fs';
import { connect } from 'node:net';

/** What is found at the path of a Unix socket. `live` also covers what cannot be told apart from a live one. */
export type Occupant =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'stale' }
  | { readonly kind: 'live'; readonly why: string }
  | { readonly kind: 'other'; readonly what: string };

/**
 * Looks at `path` without changing it. A socket is stale only if the kernel says that nobody listens on it
 * (ECONNREFUSED); a full backlog, missing rights or silence count as live. Takes at most `timeoutMs`.
 */
export async function probeUnixPath(path: string, timeoutMs = 1_000): Promise<Occupant> {
  const file = typeOf(path);
  if (file === undefined) return { kind: 'nothing' };
  if (file !== 'socket') return { kind: 'other', what: file };
  return await new Promise((resolve) => {
    const socket = connect({ path });
    const timer = setTimeout(
      () => answer({ kind: 'live', why: 'it accepts no connection, but exists' }),
      timeoutMs,
    );
    const answer = (occupant: Occupant): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(occupant);
    };
    socket.on('connect', () => answer({ kind: 'live', why: 'it answers' }));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') answer({ kind: 'stale' });
      else if (error.code === 'ENOENT') answer({ kind: 'nothing' });
      else if (error.code === 'EPROTOTYPE') answer({ kind: 'other', what: 'a socket of another type' });
      else
        answer({
          kind: 'live',
          why: `whether it answers cannot be found out: ${error.code ?? error.message}`,
        });
    });
  });
}

function typeOf(path: string): string | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  if (stat.isSocket()) return 'socket';
  if (stat.isDirectory()) return 'a directory';
  if (stat.isSymbolicLink()) return `a symbolic link to ${readlinkSync(path)}`;
  if (stat.isFile()) return 'a regular file';
  return 'not a socket';
}
