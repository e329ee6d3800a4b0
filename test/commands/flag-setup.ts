import type { FlagDefinition, FlagTable } from '../../src/commands/flags/flag-definition.ts';
import { defaultText } from '../../src/commands/flags/flag-definition.ts';
import type { FlagEnvironment } from '../../src/commands/flags/flag-environment.ts';
import { FlagRefusals } from '../../src/commands/flags/flag-refusals.ts';
import { Fault } from '../../src/proxy/ops/fault.ts';

export const GIB = 1024 ** 3;

/** An environment in which every file exists whose path does not begin with /missing. */
export function pureEnvironment(changes: Partial<FlagEnvironment> = {}): FlagEnvironment {
  return {
    env: {},
    fileExists: (path) => !path.startsWith('/missing'),
    newId: () => 'a-new-id',
    memoryBytes: 4 * GIB,
    heapLimitBytes: 2 * GIB,
    ...changes,
  };
}

/** The lines with which `parse` refuses; empty when it does not. */
export function refusalLines(parse: () => unknown): string[] {
  try {
    parse();
  } catch (error) {
    if (!(error instanceof FlagRefusals) || !(error instanceof Fault)) throw error;
    return error.line.split('\n');
  }
  return [];
}

/** `name=default` for each flag that upstream has, with upstream's default. */
export function upstreamDefaults(table: FlagTable): Record<string, string> {
  const entries = Object.entries(table).filter(([, definition]) => definition.ours !== true);
  return Object.fromEntries(
    entries.map(([name, definition]) => [name, definition.upstreamDefault ?? defaultText(definition)]),
  );
}

/** The names of the flags with that status. */
export function withStatus(table: FlagTable, status: FlagDefinition['status']): string[] {
  return Object.keys(table).filter((name) => table[name]?.status === status);
}

/** Upstream's logging flags and their defaults. */
export const UPSTREAM_KLOG_DEFAULTS = {
  v: '4',
  vmodule: '',
  logtostderr: 'true',
  alsologtostderr: 'false',
  alsologtostderrthreshold: 'INFO',
  stderrthreshold: 'ERROR',
  'legacy-stderr-threshold-behavior': 'true',
  'log-file': '',
  'log-file-max-size': '1800',
  'log-dir': '',
  'one-output': 'false',
  'skip-log-headers': 'false',
  'skip-headers': 'false',
  'add-dir-header': 'false',
  'log-backtrace-at': '',
};
