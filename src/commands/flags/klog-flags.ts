import { accepted, bool, inGroup, int, string } from './define-flag.ts';
import type { FlagTable } from './flag-definition.ts';

const toStderr = accepted('the log always goes to standard error');
const files = accepted('no log files are written; redirect standard error');
const header = accepted('every line has its header');

/** The logging flags of klog, which `serve` and `agent` share. */
export const klogFlags = {
  ...inGroup('Logging', {
    v: {
      ...int(2, 'verbosity: info lines up to this level are printed; 4 and more tell of single tunnels'),
      shorthand: 'v',
      upstreamDefault: '4',
    },
    vmodule: {
      ...string('', 'verbosity of single source files, as pattern=N,...'),
      ...accepted('verbosity is the same for all source files'),
    },
    logtostderr: { ...bool(true, 'log to standard error'), ...toStderr },
    alsologtostderr: { ...bool(false, 'log to standard error as well as to files'), ...toStderr },
    alsologtostderrthreshold: {
      ...string('INFO', 'least severity on standard error beside files'),
      ...toStderr,
    },
    stderrthreshold: { ...string('ERROR', 'least severity on standard error'), ...toStderr },
    'legacy-stderr-threshold-behavior': {
      ...bool(true, 'ignore stderrthreshold while logtostderr is set'),
      ...toStderr,
    },
    'log-file': { ...string('', 'file to log to'), ...files },
    'log-file-max-size': { ...int(1800, 'size of the log file in MB before it is started anew'), ...files },
    'log-dir': { ...string('', 'directory for log files'), ...files },
    'one-output': { ...bool(false, 'write a line to the file of its own severity only'), ...files },
    'skip-log-headers': { ...bool(false, 'begin log files without headers'), ...files },
    'skip-headers': { ...bool(false, 'print lines without severity, time and file'), ...header },
    'add-dir-header': { ...bool(false, 'print the directory of the source file'), ...header },
    'log-backtrace-at': {
      ...string('', 'source file and line, as file:N, whose log lines come with a stack trace'),
      ...accepted('there are no Go source lines here'),
    },
  }),
} as const satisfies FlagTable;
