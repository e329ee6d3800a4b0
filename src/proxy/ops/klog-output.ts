import { symlinkSync, unlinkSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { noticeLine, type Severity } from './klog-format.ts';
import { LogFile } from './log-file.ts';

/** Where klog's flags send lines. Thresholds: 0 info, 1 warning, 2 error, 3 nothing (fatal). */
export interface KlogOutputOptions {
  readonly program: string;
  readonly toStderr: boolean;
  readonly alsoToStderr: boolean;
  readonly stderrThreshold: number;
  readonly alsoToStderrThreshold: number;
  /** `toStderr` prints everything, whatever `stderrThreshold` says. */
  readonly legacyThreshold: boolean;
  /** One file for everything; empty: one for each severity in `directory`. */
  readonly file: string;
  readonly fileMaxBytes: number;
  readonly directory: string;
  /** A line goes to the file of its own severity only, not to those of lower ones as well. */
  readonly oneOutput: boolean;
  readonly skipFileHeads: boolean;
  /** JSON files hold objects alone: they begin without a head. */
  readonly format: 'text' | 'json';
  readonly stderr: (text: string) => void;
}

/** Takes lines to where the flags say. */
export interface KlogOutput {
  write(line: string, severity: Severity): void;
  /** Writes what waits for files. */
  closeSync(): void;
}

const SEVERITIES: readonly Severity[] = ['info', 'warning', 'error'];
/** klog's bound for files of a directory. */
const DIRECTORY_FILE_MAX_BYTES = 1800 * 1024 * 1024;

/**
 * klog's routing of lines to standard error and files.
 * @throws Fault `log-file-unwritable` when a file is wanted and cannot be opened
 */
export function klogOutput(options: KlogOutputOptions): KlogOutput {
  const { toStderr, alsoToStderr, legacyThreshold, stderr } = options;
  if (toStderr) {
    const least = legacyThreshold ? 0 : options.stderrThreshold;
    return {
      write: (line, severity) => {
        if (SEVERITIES.indexOf(severity) >= least) stderr(line);
      },
      closeSync: () => {},
    };
  }
  const least = alsoToStderr ? options.alsoToStderrThreshold : options.stderrThreshold;
  const files = options.file === '' ? severityFiles(options) : oneFile(options);
  return {
    write: (line, severity) => {
      if (SEVERITIES.indexOf(severity) >= least) stderr(line);
      files.write(line, severity);
    },
    closeSync: () => files.closeSync(),
  };
}

function oneFile(options: KlogOutputOptions): KlogOutput {
  const file = new LogFile({
    path: () => options.file,
    label: '--log-file',
    maxBytes: options.fileMaxBytes,
    head: () => fileHead(options),
    elsewhere: options.stderr,
    format: options.format,
  });
  return { write: (line) => file.write(line), closeSync: () => file.closeSync() };
}

/** Files named after program, host, user, severity and time, and a link to the newest of each severity. */
function severityFiles(options: KlogOutputOptions): KlogOutput {
  const open = (severity: Severity): LogFile =>
    new LogFile({
      path: () => newFile(options, severity),
      label: '--log-dir',
      maxBytes: DIRECTORY_FILE_MAX_BYTES,
      head: () => fileHead(options),
      elsewhere: options.stderr,
      format: options.format,
    });
  const files = new Map<Severity, LogFile>([['info', open('info')]]);
  return {
    write: (line, severity) => {
      // Those of higher severities are made when there is something for them.
      for (const one of SEVERITIES.slice(0, SEVERITIES.indexOf(severity) + 1)) {
        if (options.oneOutput && one !== severity) continue;
        const file = files.get(one) ?? tryOpen(() => open(one), options);
        if (file === undefined) continue;
        files.set(one, file);
        file.write(line);
      }
    },
    closeSync: () => {
      for (const file of files.values()) file.closeSync();
    },
  };
}

function tryOpen(open: () => LogFile, options: KlogOutputOptions): LogFile | undefined {
  try {
    return open();
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    options.stderr(noticeLine(text, options.format));
    return undefined;
  }
}

function newFile({ program, directory }: KlogOutputOptions, severity: Severity): string {
  const tag = severity.toUpperCase();
  const at = new Date();
  const digits = (value: number, places = 2): string => String(value).padStart(places, '0');
  const date = `${digits(at.getFullYear(), 4)}${digits(at.getMonth() + 1)}${digits(at.getDate())}`;
  const time = `${digits(at.getHours())}${digits(at.getMinutes())}${digits(at.getSeconds())}`;
  const name = `${program}.${shortHost()}.${user()}.log.${tag}.${date}-${time}.${process.pid}`;
  const link = join(directory, `${program}.${tag}`);
  try {
    unlinkSync(link);
  } catch {
    // There was none.
  }
  try {
    symlinkSync(name, link);
  } catch {
    // The link is a convenience.
  }
  return join(directory, name);
}

function fileHead({ skipFileHeads, format }: KlogOutputOptions): string {
  if (skipFileHeads || format === 'json') return '';
  const at = new Date();
  const day = [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((n) => String(n).padStart(2, '0'));
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map((n) => String(n).padStart(2, '0'));
  return [
    `Log file created at: ${day.join('/')} ${time.join(':')}`,
    `Running on machine: ${shortHost()}`,
    `Binary: Built with node ${process.version} for ${process.platform}/${process.arch}`,
    'Log line format: [IWEF]mmdd hh:mm:ss.uuuuuu threadid file:line] msg',
    '',
  ].join('\n');
}

function shortHost(): string {
  return hostname().split('.')[0] || 'unknownhost';
}

function user(): string {
  try {
    return userInfo().username.replaceAll(/[/\\]/g, '_');
  } catch {
    return 'unknownuser';
  }
}
