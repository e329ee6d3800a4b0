import { randomInt } from 'node:crypto';
import { type BigIntStats, existsSync, lstatSync, unlinkSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { Fault } from './fault.ts';
import {
  acceptOptions,
  bindServer,
  type Listener,
  type ListenerOptions,
  stopAccepting,
  surviveAcceptErrors,
} from './listener.ts';
import { placeSocket } from './place-socket.ts';
import { checkUnixPath, MAX_UNIX_PATH_BYTES } from './unix-path.ts';

export interface UnixListenerOptions extends ListenerOptions<Socket> {
  readonly path: string;
  /** Default true: a socket file on which nobody listens any more is replaced. Nothing else ever is. */
  readonly deleteExisting?: boolean;
  /** Mode bits taken from rwxrwxrwx; default 0007, upstream's. */
  readonly umask?: number;
  readonly signal?: AbortSignal;
}

/**
 * Listens on a Unix socket. The socket is bound under another name in the same directory and gets its own name when
 * it is already accepting: nobody ever sees a file there that refuses connections, and nobody else's file can be
 * removed by ours (libuv removes the name it bound, whatever is there by then). Rejects with the Faults of
 * checkUnixPath, bindFault and place-socket.ts.
 */
export async function listenUnix(options: UnixListenerOptions): Promise<Listener> {
  const { path, label } = options;
  checkUnixPath(path, label);
  const server = createServer(acceptOptions, (socket) => {
    socket.on('error', ignore);
    options.newcomers?.accepted(socket);
    options.onConnection(socket);
  });
  const own = await bindBeside(server, path, label, options.umask ?? 0o007);
  try {
    await placeSocket(own.name, path, label, {
      replaceStale: options.deleteExisting ?? true,
      signal: options.signal,
    });
  } catch (error) {
    await stopAccepting(server);
    throw error;
  }
  surviveAcceptErrors(server, options.log, path);
  return {
    address: path,
    port: 0,
    path,
    close: async () => {
      removeOwn(path, own.file);
      await stopAccepting(server);
    },
  };
}

/** Binds to a free name in the directory of `path`, no longer than a socket's path may be. */
async function bindBeside(server: Server, path: string, label: string, umask: number) {
  const name = nameBeside(path);
  try {
    await bindServer(server, () => listenWithUmask(server, name, umask), { address: path, label });
  } catch (error) {
    // libuv reports a missing directory as missing rights (EACCES), as on Windows.
    if (!existsSync(dirname(path))) {
      throw new Fault(
        'socket-directory-missing',
        `${label} ${path}: the directory ${dirname(path)} does not exist`,
        'create it',
        error,
      );
    }
    throw error;
  }
  return { name, file: lstatSync(name, { bigint: true }) };
}

function listenWithUmask(server: Server, path: string, umask: number): void {
  const before = process.umask(umask);
  try {
    // Binds before it returns, so that the mask holds for this file alone.
    server.listen({ path });
  } finally {
    process.umask(before);
  }
}

function nameBeside(path: string): string {
  const directory = dirname(path);
  const random = randomInt(36 ** 8)
    .toString(36)
    .padStart(8, '0');
  const readable = join(directory, `.${basename(path)}.${random}`);
  if (Buffer.byteLength(readable) <= MAX_UNIX_PATH_BYTES) return readable;
  // There is room for at least as many bytes as the real name has.
  const room = MAX_UNIX_PATH_BYTES - Buffer.byteLength(join(directory, 'x')) + 1;
  return join(directory, random.slice(0, room));
}

/** Removes `path` if it is still the file that we made: same inode, and same time of making as inodes are reused. */
function removeOwn(path: string, own: BigIntStats): void {
  try {
    const now = lstatSync(path, { bigint: true });
    if (now.dev === own.dev && now.ino === own.ino && now.mtimeNs === own.mtimeNs) unlinkSync(path);
  } catch {
    // Gone already, or the directory is no longer ours to change: nothing that stopping should fail for.
  }
}

function ignore(): void {}
