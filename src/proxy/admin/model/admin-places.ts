import { join } from 'node:path';

/** Of the process that looks for, or makes, an admin socket. */
export interface AdminPlaceFacts {
  /** Of the user; undefined where there is no such thing. */
  readonly uid: number | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly temporary: string;
}

/** The name of a server's socket in its directory; a second server on a host adds its ID. */
export const ADMIN_SOCKET = 'admin.sock';
/** What a client looks for in such a directory. */
export const ADMIN_SOCKET_NAMES = /^admin(?:-.+)?\.sock$/;

/** The directory in which a server of that user makes its admin socket by default. */
export function ownAdminDirectory({ uid, env, temporary }: AdminPlaceFacts): string {
  if (uid === 0) return SYSTEM_DIRECTORY;
  const runtime = env.XDG_RUNTIME_DIR;
  if (runtime?.startsWith('/')) return join(runtime, 'konnectivity-ts');
  return join(temporary, `konnectivity-ts-${uid ?? 'user'}`);
}

export const SYSTEM_DIRECTORY = '/run/konnectivity-ts';
