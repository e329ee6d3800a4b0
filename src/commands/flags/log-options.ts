import type { FlagValues } from './flag-definition.ts';
import type { klogFlags } from './klog-flags.ts';

/** What klog's flags say about the log. */
export interface LogFlags {
  readonly verbosity: number;
  /** `pattern=N,...`; empty for none. */
  readonly vmodule: string;
  readonly logToStderr: boolean;
  readonly alsoLogToStderr: boolean;
  /** Empty for none. */
  readonly logFile: string;
  readonly logFileMaxSizeMb: number;
  readonly logDir: string;
}

/** The values of klog's flags by what they mean. */
export function logFlags(values: FlagValues<typeof klogFlags>): LogFlags {
  return {
    verbosity: values.v,
    vmodule: values.vmodule,
    logToStderr: values.logtostderr,
    alsoLogToStderr: values.alsologtostderr,
    logFile: values['log-file'],
    logFileMaxSizeMb: values['log-file-max-size'],
    logDir: values['log-dir'],
  };
}
