import { closeSync, constants, fstatSync, openSync, write, writeSync } from 'node:fs';
import { Fault } from './fault.ts';
import { noticeLine } from './klog-format.ts';

/** Lines that a slow disk may keep waiting; beyond it lines are dropped and counted. */
const MOST_PENDING_BYTES = 4 * 1024 * 1024;
/** After a failed write, the time until the file is tried again. */
const RETRY_MS = 1_000;
/** How long an orderly end waits for the disk. */
const CLOSE_MS = 1_000;
/** In place of a descriptor: the file could not be begun anew. */
const NO_FILE = -1;

/** The file system calls of a log file; tests put others in their place. */
export interface LogFileCalls {
  open(path: string, flags: 'a' | 'w'): number;
  write(
    fd: number,
    bytes: Buffer,
    done: (error: NodeJS.ErrnoException | null, written: number) => void,
  ): void;
}

const { O_APPEND, O_CREAT, O_NONBLOCK, O_TRUNC, O_WRONLY } = constants;

const fileCalls: LogFileCalls = {
  // As klog has it: whoever may read the directory may read the log, less the umask. A FIFO that nobody reads is refused
  // (ENXIO); without O_NONBLOCK its opening would wait for a reader.
  open: (path, flags) =>
    openSync(path, O_WRONLY | O_CREAT | O_NONBLOCK | (flags === 'a' ? O_APPEND : O_TRUNC), 0o666),
  write: (fd, bytes, done) => write(fd, bytes, 0, bytes.length, null, done),
};

export interface LogFileOptions {
  /** The file that is appended to at the start, and begun anew (`again`) when it is full. */
  path(again: boolean): string;
  /** Names the flag in Faults. */
  readonly label: string;
  /** In bytes; Infinity for none. */
  readonly maxBytes: number;
  /** What every file begins with; empty for nothing. */
  head(): string;
  /** Of what is written about the log itself; default text. */
  readonly format?: 'text' | 'json';
  /** Takes what cannot be written to the file, and one line about it. */
  readonly elsewhere: (text: string) => void;
  readonly mostPendingBytes?: number;
  readonly retryMs?: number;
  readonly calls?: LogFileCalls;
}

/**
 * A log file as klog writes it: appended to at the start, emptied when the next line would make it larger than its
 * bound. Writes never wait for the disk and never fail: while the disk takes nothing, lines go elsewhere.
 */
export class LogFile {
  readonly #options: LogFileOptions;
  readonly #calls: LogFileCalls;
  #path: string;
  #fd: number;
  /** Bytes of the file, those that are still to be written included. */
  #bytes = 0;
  #pending: string[] = [];
  #pendingBytes = 0;
  #dropped = 0;
  #closed = false;
  /** What one turn of the event loop logs is one write. */
  #scheduled: NodeJS.Immediate | undefined;
  /** What is being written, in case the process ends before it is. */
  #writing: Buffer | undefined;
  #failedUntilMs = 0;

  /** Opens the file. @throws Fault `log-file-unwritable` */
  constructor(options: LogFileOptions) {
    this.#options = options;
    this.#calls = options.calls ?? fileCalls;
    this.#path = options.path(false);
    try {
      this.#fd = this.#calls.open(this.#path, 'a');
      this.#bytes = fstatSync(this.#fd).size;
    } catch (error) {
      throw new Fault(
        'log-file-unwritable',
        `${options.label}: cannot write ${this.#path}: ${whyNot(error)}`,
        'give a path that this process may write, or leave the flag out to log to standard error',
        error,
      );
    }
    this.#append(options.head());
  }

  /** Takes a line with its newline. */
  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    const { mostPendingBytes = MOST_PENDING_BYTES } = this.#options;
    if (this.#pendingBytes + bytes > mostPendingBytes) {
      this.#dropped++;
      return;
    }
    if (performance.now() < this.#failedUntilMs) {
      this.#options.elsewhere(line);
      return;
    }
    this.#append(line);
  }

  /** Lets the write under way and what waits come to their end, for a second at most, and closes the file. */
  async close(): Promise<void> {
    const untilMs = performance.now() + CLOSE_MS;
    while (this.#writing !== undefined || this.#pending.length > 0) {
      if (performance.now() > untilMs) break;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    this.closeSync();
  }

  /** Writes what waits, and waits for it: for the end of the process. */
  closeSync(): void {
    this.#closed = true;
    try {
      // The write under way may come twice rather than not at all.
      if (this.#writing !== undefined) writeSync(this.#fd, this.#writing);
      writeSync(this.#fd, this.#takePending());
      closeSync(this.#fd);
    } catch {
      // The disk takes nothing; there is nobody left to tell.
    }
  }

  #notice(text: string): string {
    return noticeLine(text, this.#options.format ?? 'text');
  }

  #append(text: string): void {
    if (text === '') return;
    this.#pending.push(text);
    this.#pendingBytes += Buffer.byteLength(text);
    if (this.#writing === undefined) this.#scheduled ??= setImmediate(() => this.#flush());
  }

  #takePending(): Buffer {
    const lost =
      this.#dropped === 0
        ? ''
        : this.#notice(`${this.#dropped} log lines were dropped: the disk is too slow`);
    const bytes = Buffer.from(this.#pending.join('') + lost);
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#dropped = 0;
    return bytes;
  }

  /** Writes everything that waits in one go; what comes meanwhile waits for the next. */
  #flush(): void {
    this.#scheduled = undefined;
    if (this.#closed) return;
    let bytes = this.#takePending();
    const full = this.#bytes + bytes.length >= this.#options.maxBytes && this.#bytes > 0;
    if (full || this.#fd === NO_FILE) {
      if (!this.#again()) {
        this.#failed('cannot be begun anew', bytes);
        return;
      }
      bytes = Buffer.concat([Buffer.from(this.#options.head()), bytes]);
    }
    this.#bytes += bytes.length;
    this.#write(bytes);
  }

  #write(bytes: Buffer): void {
    this.#writing = bytes;
    this.#calls.write(this.#fd, bytes, (error, written) => {
      this.#writing = undefined;
      if (error !== null) this.#failed(codeOf(error), bytes);
      else if (written < bytes.length) this.#write(bytes.subarray(written));
      else if (this.#pending.length > 0) this.#flush();
    });
  }

  #again(): boolean {
    try {
      if (this.#fd !== NO_FILE) closeSync(this.#fd);
    } catch {
      // The new one counts.
    }
    this.#fd = NO_FILE;
    try {
      this.#path = this.#options.path(true);
      this.#fd = this.#calls.open(this.#path, 'w');
      this.#bytes = 0;
      return true;
    } catch {
      return false;
    }
  }

  #failed(reason: string, bytes: Buffer): void {
    this.#failedUntilMs = performance.now() + (this.#options.retryMs ?? RETRY_MS);
    const { label } = this.#options;
    this.#options.elsewhere(this.#notice(`${label}: ${this.#path}: ${reason}; what it misses follows here`));
    this.#options.elsewhere(bytes.toString() + this.#takePending().toString());
  }
}

function whyNot(error: unknown): string {
  const code = codeOf(error);
  return code === 'ENXIO' ? `nobody reads this FIFO (${code})` : code;
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
