import { accepted, bool, choice, inGroup, int, ours, string } from './define-flag.ts';
import type { FlagTable } from './flag-definition.ts';

/** The logging flags of klog, which `serve` and `agent` share. */
export const klogFlags = {
  ...inGroup('Logging', {
    v: {
      ...int(2, 'verbosity: info lines up to this level are printed; 4 and more tell of single tunnels'),
      shorthand: 'v',
      upstreamDefault: '4',
    },
    vmodule: string(
      '',
      'verbosity of single source files, as pattern=N,...; a pattern is a file name without ending, or a glob',
    ),
    'logging-format': {
      ...choice(['text', 'json'], 'text', 'lines as klog prints them, or one JSON object a line'),
      ...ours,
    },
    logtostderr: bool(true, 'log to standard error; false: to files'),
    alsologtostderr: bool(false, 'with logtostderr=false, log to standard error as well'),
    alsologtostderrthreshold: string('INFO', 'with alsologtostderr, least severity on standard error'),
    stderrthreshold: string(
      'ERROR',
      'with logtostderr=false and without alsologtostderr, least severity on standard error',
    ),
    'legacy-stderr-threshold-behavior': bool(true, 'ignore stderrthreshold while logtostderr is set'),
    'log-file': string('', 'with logtostderr=false, the file to log to'),
    'log-file-max-size': int(
      1800,
      'size of log-file in MB (1024 x 1024 bytes) beyond which it is emptied; 0 for no limit',
    ),
    'log-dir': string(
      '',
      'with logtostderr=false and no log-file, directory for a file of each severity; empty for that of temporary files',
    ),
    'one-output': bool(
      false,
      'write a line to the file of its own severity only, not to those of lower ones as well',
    ),
    'skip-log-headers': bool(false, 'begin log files without headers'),
    'skip-headers': bool(false, 'print lines without severity, time and file'),
    'add-dir-header': bool(false, 'print the directory of the source file before its name'),
    'log-backtrace-at': {
      ...string('', 'source file and line, as file:N, whose log lines come with a stack trace'),
      ...accepted('there are no Go source lines here'),
    },
  }),
} as const satisfies FlagTable;
