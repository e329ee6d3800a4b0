import { oneLine } from './fault.ts';

/** Values beside a log message, printed as key="value". */
export type Fields = Record<string, string | number | bigint | boolean | undefined>;

/** What the core logs to. Levels are klog's: info lines carry the verbosity (`--v`) from which they are printed. */
export interface Log {
  /** True when info lines of that verbosity are printed: ask before building a costly line. */
  enabled(verbosity: number): boolean;
  info(verbosity: number, message: string, fields?: Fields): void;
  warning(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** The same log under the name of another source file (klog prints it, `--vmodule` selects by it). */
  named(file: string): Log;
}

export interface LogOptions {
  /** klog's --v. */
  verbosity: number;
  /** Takes one line with its newline. */
  write: (line: string) => void;
  now?: () => Date;
}

/** A log in klog's text format: `I1130 04:50:09.123456  4711 dial.ts] "message" key="value"`. */
export function createLog(options: LogOptions): Log {
  const now = options.now ?? (() => new Date());
  const make = (file: string): Log => {
    const print = (severity: 'I' | 'W' | 'E', message: string, fields: Fields | undefined): void => {
      options.write(`${severity}${header(now())} ${process.pid} ${file}] ${format(message, fields)}\n`);
    };
    return {
      enabled: (verbosity) => verbosity <= options.verbosity,
      info: (verbosity, message, fields) => {
        if (verbosity <= options.verbosity) print('I', message, fields);
      },
      warning: (message, fields) => print('W', message, fields),
      error: (message, fields) => print('E', message, fields),
      named: make,
    };
  };
  return make('konnectivity-ts');
}

/** A log that prints nothing, for tests and tools. */
export const silentLog: Log = {
  enabled: () => false,
  info: () => {},
  warning: () => {},
  error: () => {},
  named: () => silentLog,
};

function header(at: Date): string {
  const two = (n: number): string => String(n).padStart(2, '0');
  const micros = `${String(at.getMilliseconds()).padStart(3, '0')}000`;
  return (
    `${two(at.getMonth() + 1)}${two(at.getDate())} ` +
    `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${micros}`
  );
}

function format(message: string, fields: Fields | undefined): string {
  let line = `"${oneLine(message)}"`;
  for (const [key, value] of Object.entries(fields ?? {})) {
    if (value === undefined) continue;
    line += typeof value === 'string' ? ` ${key}=${JSON.stringify(oneLine(value))}` : ` ${key}=${value}`;
  }
  return line;
}
