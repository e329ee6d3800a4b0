import { readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ADMIN_SOCKET_NAMES,
  type AdminPlaceFacts,
  ownAdminDirectory,
  SYSTEM_DIRECTORY,
} from '../proxy/admin/model/admin-places.ts';
import { Fault } from '../proxy/ops/fault.ts';
import { probeUnixPath } from '../proxy/ops/unix-probe.ts';
import type { AdminFlags } from './admin-flags.ts';

/** Directories in which every user's server puts its socket, for root, who may ask all of them. */
export interface AdminPlaces extends AdminPlaceFacts {
  readonly system: string;
  readonly runtimeParent: string;
}

export function adminPlaces(env: AdminPlaceFacts['env']): AdminPlaces {
  return {
    uid: process.getuid?.(),
    env,
    temporary: tmpdir(),
    system: SYSTEM_DIRECTORY,
    runtimeParent: '/run/user',
  };
}

/**
 * The admin services to ask: --admin over KONNECTIVITY_TS_ADMIN over the server that runs on this machine.
 * @returns one address or more, each `unix:///path` or `host:port`
 * @throws Fault admin-none with what was tried, admin-several, or flag-value
 */
export async function adminAddresses(flags: AdminFlags, places: AdminPlaces): Promise<string[]> {
  if (flags.admin !== undefined) return readList(flags.admin, '--admin');
  const fromEnvironment = places.env.KONNECTIVITY_TS_ADMIN;
  if (fromEnvironment !== undefined && fromEnvironment !== '') {
    return readList(fromEnvironment, 'KONNECTIVITY_TS_ADMIN');
  }
  return [await defaultAddress(places)];
}

function readList(text: string, label: string): string[] {
  const addresses = text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  if (addresses.length === 0) {
    throw new Fault('flag-value', `${label} is empty`, 'give unix:///path/to/admin.sock or HOST:PORT');
  }
  return [...new Set(addresses.map((address) => (address.startsWith('/') ? `unix://${address}` : address)))];
}

async function defaultAddress(places: AdminPlaces): Promise<string> {
  const tried: string[] = [];
  const live: string[] = [];
  for (const directory of directories(places)) {
    const names = socketsIn(directory, places, tried);
    for (const name of names) {
      const path = join(directory, name);
      const occupant = await probeUnixPath(path);
      if (occupant.kind === 'live' && occupant.why === 'it answers') live.push(path);
      else tried.push(`${path} (${problem(occupant)})`);
    }
  }
  const [only, ...more] = live;
  if (only === undefined) {
    throw new Fault(
      'admin-none',
      `no running server was found; tried ${tried.join(', ')}`,
      'name one with --admin unix:///path/to/admin.sock or --admin HOST:PORT',
    );
  }
  if (more.length > 0) {
    throw new Fault(
      'admin-several',
      `several servers run here: ${live.map((path) => `unix://${path}`).join(', ')}`,
      `name one of them, or all with --admin ${live.map((path) => `unix://${path}`).join(',')}`,
    );
  }
  return `unix://${only}`;
}

/** The places of the own user first; root looks into those of all users. */
function directories(places: AdminPlaces): string[] {
  const found = [ownAdminDirectory(places), places.system];
  // A server that was started without XDG_RUNTIME_DIR, for which it is set here.
  found.push(join(places.temporary, `konnectivity-ts-${places.uid ?? 'user'}`));
  if (places.uid === 0) {
    found.push(
      ...entries(places.runtimeParent).map((uid) => join(places.runtimeParent, uid, 'konnectivity-ts')),
    );
    found.push(
      ...entries(places.temporary)
        .filter((name) => /^konnectivity-ts-\d+$/.test(name))
        .map((name) => join(places.temporary, name)),
    );
  }
  return [...new Set(found)];
}

function socketsIn(directory: string, places: AdminPlaces, tried: string[]): string[] {
  const stat = statSync(directory, { throwIfNoEntry: false });
  if (stat === undefined) {
    tried.push(`${directory} (not there)`);
    return [];
  }
  // Somebody else could have made it to be asked instead of the server.
  const foreign = stat.uid !== 0 && stat.uid !== places.uid;
  if (foreign && places.uid !== 0 && places.uid !== undefined) {
    tried.push(`${directory} (belongs to another user)`);
    return [];
  }
  const names = entries(directory).filter((name) => ADMIN_SOCKET_NAMES.test(name));
  if (names.length === 0) tried.push(`${directory} (no socket)`);
  return names.sort();
}

function entries(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function problem(occupant: Awaited<ReturnType<typeof probeUnixPath>>): string {
  switch (occupant.kind) {
    case 'nothing':
      return 'not there';
    case 'stale':
      return 'left by a server that is gone';
    case 'other':
      return occupant.what;
    case 'live':
      return occupant.why.includes('EACCES') ? 'no permission: try as its user, or with sudo' : occupant.why;
  }
}
