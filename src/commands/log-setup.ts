import { tmpdir } from 'node:os';
import { klogOutput } from '../proxy/ops/klog-output.ts';
import { createLog, type Log } from '../proxy/ops/log.ts';
import { streamLines } from '../proxy/ops/log-stream.ts';
import type { LogFlags } from './flags/log-options.ts';
import type { CommandIo } from './io.ts';

/**
 * The log of a long-running command, after klog's flags. What waits for a file is written when the process ends.
 * @throws Fault `log-file-unwritable`
 */
export function setUpLog(flags: LogFlags, io: CommandIo): Log {
  const output = klogOutput({
    program: 'konnectivity-ts',
    toStderr: flags.logToStderr,
    alsoToStderr: flags.alsoLogToStderr,
    stderrThreshold: flags.stderrThreshold,
    alsoToStderrThreshold: flags.alsoLogToStderrThreshold,
    legacyThreshold: flags.legacyStderrThreshold,
    file: flags.logFile,
    fileMaxBytes: flags.logFileMaxBytes,
    directory: flags.logDir || tmpdir(),
    oneOutput: flags.oneOutput,
    skipFileHeads: flags.skipLogHeaders,
    stderr: streamLines(io.stderr, undefined, flags.format),
    format: flags.format,
  });
  process.once('exit', () => output.closeSync());
  return createLog({
    verbosity: flags.verbosity,
    modules: flags.modules,
    format: flags.format,
    skipHeaders: flags.skipHeaders,
    addFolder: flags.addDirHeader,
    write: (line, severity) => output.write(line, severity),
  });
}

/** What starts every log: who runs, accepted flags without meaning (V(1)), and what the operator should reconsider. */
export function logStart(
  parent: Log,
  what: string,
  version: string,
  notes: readonly string[],
  warnings: readonly string[],
): void {
  const log = parent.named('log-setup');
  log.info(0, `konnectivity-ts ${what}`, { version, node: process.versions.node, pid: process.pid });
  for (const warning of warnings) log.warning(warning);
  for (const note of notes) log.info(1, note);
}

/** An error that nobody caught is a bug: one line, and the end, since nothing can be trusted any more. */
export function dieOnBugs(parent: Log): void {
  const log = parent.named('log-setup');
  const die = (error: unknown): void => {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    log.error('Internal error: please report it', { error: stack });
    process.exit(1);
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
}
