import { cut, withoutSecrets } from './safe-text.ts';

/** Values beside a log message, printed as key="value". */
export type Fields = Record<string, string | number | bigint | boolean | undefined>;

export type Severity = 'info' | 'warning' | 'error';

/** Everything that is known of one line. */
export interface LogEntry {
  readonly severity: Severity;
  readonly at: Date;
  readonly pid: number;
  /** Source file and line; `file` as the header shows it. */
  readonly file: string;
  readonly line: number;
  /** Of info lines. */
  readonly verbosity: number;
  readonly message: string;
  readonly fields: Fields;
}

/** Longest text of one value: peers choose some of them. */
const MOST_CHARACTERS = 500;

/**
 * klog's structured line with its newline: `I1130 04:50:09.123456    4711 dial-desk.ts:74] "message" key="value"`.
 * Unlike klog, a value with line breaks stays on the line, since peers choose values.
 */
export function klogLine(entry: LogEntry, withHeader: boolean): string {
  let line = `${withHeader ? klogHeader(entry) : ''}${goQuote(safe(entry.message))}`;
  for (const [key, value] of Object.entries(entry.fields)) {
    if (value === undefined) continue;
    line += ` ${key}=${typeof value === 'string' ? goQuote(safe(value)) : value}`;
  }
  return `${line}\n`;
}

/** Like klog: month and day, local time, process ID on seven places, file and line. */
function klogHeader({ severity, at, pid, file, line }: LogEntry): string {
  const two = (n: number): string => String(n).padStart(2, '0');
  const date = `${two(at.getMonth() + 1)}${two(at.getDate())}`;
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  const micros = `${String(at.getMilliseconds()).padStart(3, '0')}000`;
  const letter = severity === 'info' ? 'I' : severity === 'warning' ? 'W' : 'E';
  return `${letter}${date} ${time}.${micros} ${String(pid).padStart(7)} ${file}:${line}] `;
}

/** One JSON object, with the keys of Kubernetes' JSON logs (ts in milliseconds), and `level`. */
export function jsonLine(entry: LogEntry): string {
  const { severity, at, file, line, verbosity, message, fields } = entry;
  const object: Record<string, unknown> = {
    ts: at.getTime(),
    caller: `${file}:${line}`,
    level: severity,
    msg: safe(message),
    ...(severity === 'info' ? { v: verbosity } : {}),
  };
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    // JSON readers take numbers for doubles: IDs of 64 bits go as text.
    object[key] = typeof value === 'bigint' ? String(value) : typeof value === 'string' ? safe(value) : value;
  }
  return `${JSON.stringify(object)}\n`;
}

/** A line about the log itself, such as of lines that were lost; in a JSON log as an object, too. */
export function noticeLine(text: string, format: 'text' | 'json'): string {
  return format === 'json'
    ? `${JSON.stringify({ ts: Date.now(), level: 'warning', msg: text })}\n`
    : `${text}\n`;
}

function safe(text: string): string {
  return cut(withoutSecrets(cut(text, 2 * MOST_CHARACTERS)), MOST_CHARACTERS);
}

const NAMED: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};

/** Go's strconv.Quote: letters, marks, numbers, punctuation, symbols and the space stay, all else is escaped. */
export function goQuote(text: string): string {
  const escaped = text.replace(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, (character) => {
    const named = NAMED[character];
    if (named !== undefined) return named;
    const point = character.codePointAt(0) as number;
    if (point < 0x20 || point === 0x7f) return `\\x${point.toString(16).padStart(2, '0')}`;
    if (point < 0x10000) return `\\u${point.toString(16).padStart(4, '0')}`;
    return `\\U${point.toString(16).padStart(8, '0')}`;
  });
  return `"${escaped}"`;
}
