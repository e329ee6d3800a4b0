import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package that an installation without development dependencies has. */
export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  /** Where it is installed, below the root of the project. */
  readonly path: string;
  /** As its own package.json says it, an SPDX expression; empty when it says nothing. */
  readonly licence: string;
  /** As in package-lock.json: `sha512-` and base64. */
  readonly integrity: string;
  /** Paths of the packages that it requires and that are installed. */
  readonly requires: readonly string[];
}

interface LockEntry {
  readonly version?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const FOLDER = 'node_modules/';

/**
 * Every package of package-lock.json that is not for development alone, sorted by path; the first is the project.
 * @throws Error when one of them is not installed, or in another version
 */
export function lockedPackages(root: string): readonly LockedPackage[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockEntry>;
  };
  const found: LockedPackage[] = [];
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (entry.dev) continue;
    const file = join(root, path, 'package.json');
    if (entry.optional && !existsSync(file)) continue;
    if (!existsSync(file)) throw new Error(`${path} is locked but not installed; run npm ci`);
    const { name, version, license, licenses } = JSON.parse(readFileSync(file, 'utf8'));
    if (version !== entry.version) {
      throw new Error(`${path} is installed as ${version} and locked as ${entry.version}; run npm ci`);
    }
    found.push({
      name,
      version,
      path,
      licence: licenceText(license ?? licenses),
      integrity: entry.integrity ?? '',
      requires: requirements(path, entry, lock.packages),
    });
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Old packages have an object, or a list of objects, of which one may be chosen. */
function licenceText(said: unknown): string {
  if (typeof said === 'string') return said;
  if (Array.isArray(said)) return `(${said.map(licenceText).join(' OR ')})`;
  return (said as { type?: string } | undefined)?.type ?? '';
}

/** Where Node would find what a package requires: in its own node_modules, or in one further up. */
function requirements(path: string, entry: LockEntry, packages: Record<string, LockEntry>): string[] {
  const names = { ...entry.dependencies, ...entry.optionalDependencies, ...entry.peerDependencies };
  return Object.keys(names).flatMap((name) => {
    for (let folder = path; ; ) {
      const candidate = `${folder === '' ? '' : `${folder}/`}${FOLDER}${name}`;
      if (candidate in packages) return [candidate];
      if (folder === '') return [];
      const up = folder.lastIndexOf(`/${FOLDER}`);
      folder = up < 0 ? '' : folder.slice(0, up);
    }
  });
}
