// Puts a new bundle into dist/ under programs that run from the old one: nothing is missing or half written at any
// moment, and what did not change stays as it is.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { processExists } from './process-exists.mjs';

/** Writes a file as a whole, unless it has these contents already. @returns whether it was written */
export function replaceFile(path, contents) {
  try {
    if (readFileSync(path).equals(Buffer.from(contents))) return false;
  } catch {
    // There is none.
  }
  mkdirSync(dirname(path), { recursive: true });
  // Two builds may run at once.
  const fresh = `${path}.${process.pid}.new`;
  writeFileSync(fresh, contents);
  renameSync(fresh, path);
  return true;
}

/**
 * Writes what esbuild made, what is imported before what imports it.
 * @param outputs `outputFiles` of builds with `write: false`
 * @returns the paths of the files that changed
 */
export function writeOutputs(outputs) {
  const inChunks = ({ path }) => basename(dirname(path)) === 'chunks';
  const inOrder = [...outputs.filter(inChunks), ...outputs.filter((output) => !inChunks(output))];
  return inOrder.filter(({ path, contents }) => replaceFile(path, contents)).map(({ path }) => path);
}

/** Removes every file below `dist` that is not in `kept`, and that no other build is just writing. */
export function removeOthers(dist, kept) {
  const wanted = new Set([...kept].map((path) => resolve(path)));
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const path = resolve(entry.parentPath ?? entry.path, entry.name);
    const writer = /\.(\d+)\.new$/.exec(path)?.[1];
    if (entry.isDirectory() || wanted.has(path)) continue;
    if (writer === undefined || !processExists(Number(writer))) rmSync(path, { force: true });
  }
}
