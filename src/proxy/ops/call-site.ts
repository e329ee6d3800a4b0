import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** How far above a log call the named file is looked for: a helper or two may stand between. */
const MOST_FRAMES = 8;

/** Where a log call stands in the sources. */
export interface CallSite {
  /** The name of the folder that the file is in; empty when unknown. */
  readonly folder: string;
  readonly line: number;
}

/**
 * Where in source file `file` (`backends.ts`) the current call came through: the nearest caller in it. Line 1 when it
 * is not among the callers. Costs some microseconds: only for lines that are printed.
 */
export function callSite(file: string): CallSite {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = MOST_FRAMES;
  const holder: { stack?: string } = {};
  Error.captureStackTrace(holder, callSite);
  const stack = holder.stack ?? '';
  Error.stackTraceLimit = stackTraceLimit;
  for (const frame of stack.split('\n').slice(1)) {
    const place = /([^/\\():\s]+)[/\\]([^/\\():\s]+):(\d+):(\d+)\)?$/.exec(frame);
    if (place === null) continue;
    const [, folder, name, line, column] = place;
    if (name === file) return { folder: folder as string, line: Number(line) };
    const source = /^(.*)\/(.*):(\d+)$/.exec(bundledPlace(`${name}:${line}:${column}`) ?? '');
    if (source?.[2] === file) return { folder: source[1] as string, line: Number(source[3]) };
  }
  return { folder: '', line: 1 };
}

/** `folder/file:line` of every log call by its place in the bundle; the build writes it (scripts/log-lines.mjs). */
let bundled: Readonly<Record<string, string>> | undefined;

function bundledPlace(place: string): string | undefined {
  bundled ??= readTable();
  return bundled[place];
}

function readTable(): Readonly<Record<string, string>> {
  // The bundle's chunks lie one folder below the table; an unbundled source tree has none.
  for (const path of ['log-lines.json', '../log-lines.json']) {
    try {
      return JSON.parse(readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8'));
    } catch {
      // Line numbers are a help, never a reason to stop.
    }
  }
  return {};
}
