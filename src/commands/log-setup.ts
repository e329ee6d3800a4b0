import { createLog, type Log } from '../proxy/ops/log.ts';
import type { LogFlags } from './flags/log-options.ts';
import type { CommandIo } from './io.ts';

/** The log of a long-running command, after klog's flags. */
export function setUpLog(flags: LogFlags, io: CommandIo): Log {
  return createLog({ verbosity: flags.verbosity, write: (line) => io.stderr.write(line) });
}

/** What starts every log: who runs, accepted flags without meaning (V(1)), and what the operator should reconsider. */
export function logStart(
  log: Log,
  what: string,
  version: string,
  notes: readonly string[],
  warnings: readonly string[],
): void {
  log.info(0, `konnectivity-ts ${what}`, { version, node: process.versions.node, pid: process.pid });
  for (const warning of warnings) log.warning(warning);
  for (const note of notes) log.info(1, note);
}

/** An error that nobody caught is a bug: one line, and the end, since nothing can be trusted any more. */
export function dieOnBugs(log: Log): void {
  const die = (error: unknown): void => {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    log.error('Internal error: please report it', { error: stack });
    process.exit(1);
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
}
