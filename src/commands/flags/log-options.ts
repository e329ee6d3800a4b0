import { type ModuleVerbosity, parseVmodule } from '../../proxy/ops/vmodule.ts';
import type { FlagChecks } from './flag-checks.ts';
import type { FlagValues } from './flag-definition.ts';
import type { klogFlags } from './klog-flags.ts';

/** What klog's flags say about the log. Thresholds: 0 info, 1 warning, 2 error, 3 fatal, which nothing here is. */
export interface LogFlags {
  readonly verbosity: number;
  readonly modules: readonly ModuleVerbosity[];
  readonly format: 'text' | 'json';
  readonly logToStderr: boolean;
  readonly alsoLogToStderr: boolean;
  readonly alsoLogToStderrThreshold: number;
  readonly stderrThreshold: number;
  readonly legacyStderrThreshold: boolean;
  /** Empty for none. */
  readonly logFile: string;
  readonly logFileMaxBytes: number;
  /** Empty for the directory of temporary files. */
  readonly logDir: string;
  readonly oneOutput: boolean;
  readonly skipHeaders: boolean;
  readonly skipLogHeaders: boolean;
  readonly addDirHeader: boolean;
}

type KlogValues = FlagValues<typeof klogFlags>;

const THRESHOLDS = ['INFO', 'WARNING', 'ERROR', 'FATAL'];
const MB = 1024 * 1024;

/** The values of klog's flags by what they mean; checked. */
export function logFlags(values: KlogValues): LogFlags {
  const modules = parseVmodule(values.vmodule);
  return {
    verbosity: values.v,
    modules: 'problem' in modules ? [] : modules,
    format: values['logging-format'],
    logToStderr: values.logtostderr,
    alsoLogToStderr: values.alsologtostderr,
    alsoLogToStderrThreshold: threshold(values.alsologtostderrthreshold) ?? 0,
    stderrThreshold: threshold(values.stderrthreshold) ?? 2,
    legacyStderrThreshold: values['legacy-stderr-threshold-behavior'],
    logFile: values['log-file'],
    logFileMaxBytes: values['log-file-max-size'] === 0 ? Infinity : values['log-file-max-size'] * MB,
    logDir: values['log-dir'],
    oneOutput: values['one-output'],
    skipHeaders: values['skip-headers'],
    skipLogHeaders: values['skip-log-headers'],
    addDirHeader: values['add-dir-header'],
  };
}

/** Refuses what klog refuses. */
export function checkLog(checks: FlagChecks, values: KlogValues): void {
  const modules = parseVmodule(values.vmodule);
  if ('problem' in modules) {
    const remedy = 'write pattern=N,..., such as backends=4 or dial*=5';
    checks.refuse('flag-value', `${checks.shown('vmodule')} ${modules.problem}`, remedy);
  }
  for (const name of ['stderrthreshold', 'alsologtostderrthreshold'] as const) {
    if (threshold(values[name]) !== undefined) continue;
    checks.refuse(
      'flag-value',
      `${checks.shown(name)} is no severity`,
      `give one of ${THRESHOLDS.join(', ')}`,
    );
  }
  checks.atLeast('log-file-max-size', 0, 'MB, where 0 is no limit');
  const backtrace = values['log-backtrace-at'];
  if (backtrace !== '' && !/^[^:]*\.[^:]*:0*[1-9]\d*$/.test(backtrace)) {
    checks.refuse(
      'flag-value',
      `${checks.shown('log-backtrace-at')} is no place in a source file`,
      'write file.go:N',
    );
  }
}

/** klog's names of severities in any case, or their numbers. */
function threshold(text: string): number | undefined {
  const named = THRESHOLDS.indexOf(text.toUpperCase());
  if (named !== -1) return named;
  return /^[0-3]$/.test(text) ? Number(text) : undefined;
}
