import { callSite } from './call-site.ts';
import { type Fields, jsonLine, klogLine, type Severity } from './klog-format.ts';
import type { ModuleVerbosity } from './vmodule.ts';

export type { Fields, Severity } from './klog-format.ts';

/** What the core logs to. Levels are klog's: info lines carry the verbosity (`--v`) from which they are printed. */
export interface Log {
  /** True when info lines of that verbosity are printed: ask before building a costly line. */
  enabled(verbosity: number): boolean;
  info(verbosity: number, message: string, fields?: Fields): void;
  warning(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /**
   * The same log for another source file, by its name without path and ending: the header shows it, --vmodule selects
   * by it.
   */
  named(file: string): Log;
}

export interface LogOptions {
  /** klog's --v. */
  readonly verbosity: number;
  /** klog's --vmodule. */
  readonly modules?: readonly ModuleVerbosity[];
  /** `text` (default) as klog prints it, or one JSON object a line. */
  readonly format?: 'text' | 'json';
  /** Text without severity, time and file. */
  readonly skipHeaders?: boolean;
  /** The folder of the source file before its name, as klog's --add-dir-header has it. */
  readonly addFolder?: boolean;
  /** Takes one line with its newline. Must not throw. */
  readonly write: (line: string, severity: Severity) => void;
  readonly now?: () => Date;
}

/** A log in klog's text format, or in JSON. Texts are quoted, cut, and freed of what looks like a secret. */
export function createLog(options: LogOptions): Log {
  const { write, now = () => new Date(), modules = [], format = 'text', skipHeaders = false } = options;
  const make = (name: string): Log => {
    const file = `${name}.ts`;
    const raised = modules.find((one) => one.matches(name))?.verbosity ?? 0;
    const most = Math.max(options.verbosity, raised);
    const print = (severity: Severity, verbosity: number, message: string, fields: Fields = {}): void => {
      const { folder, line } = callSite(file);
      const shown = options.addFolder === true && folder !== '' ? `${folder}/${file}` : file;
      const entry = { severity, at: now(), pid: process.pid, file: shown, line, verbosity, message, fields };
      write(format === 'json' ? jsonLine(entry) : klogLine(entry, !skipHeaders), severity);
    };
    return {
      enabled: (verbosity) => verbosity <= most,
      info: (verbosity, message, fields) => {
        if (verbosity <= most) print('info', verbosity, message, fields);
      },
      warning: (message, fields) => print('warning', 0, message, fields),
      error: (message, fields) => print('error', 0, message, fields),
      named: make,
    };
  };
  return make('log-setup');
}

/** A log that prints nothing, for tests and tools. */
export const silentLog: Log = {
  enabled: () => false,
  info: () => {},
  warning: () => {},
  error: () => {},
  named: () => silentLog,
};
