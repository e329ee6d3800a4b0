import { readFileSync, statSync } from 'node:fs';

export interface RereadFileOptions<T> {
  path: string;
  /** Must accept any text. */
  parse: (text: string) => T;
  /** Used while the file does not exist, or never could be read. */
  empty: T;
  /** How often the file is looked at, at most. */
  checkEveryMs?: number;
  /** A larger file is treated as unreadable. */
  maxBytes?: number;
  now?: () => number;
}

/**
 * A small local file, parsed again when it changed on disk. Reading is synchronous, because it happens at most every
 * few seconds and the thread pool may be busy for long. Never throws: a file that cannot be read any more keeps the
 * last contents, a removed one counts as empty.
 */
export class RereadFile<T> {
  readonly #options: RereadFileOptions<T>;
  readonly #checkEveryMs: number;
  readonly #now: () => number;
  #value: T;
  #seen = '';
  #nextCheckAt = Number.NEGATIVE_INFINITY;

  constructor(options: RereadFileOptions<T>) {
    this.#options = options;
    this.#checkEveryMs = options.checkEveryMs ?? 5_000;
    this.#now = options.now ?? (() => performance.now());
    this.#value = options.empty;
  }

  get(): T {
    const now = this.#now();
    if (now >= this.#nextCheckAt) {
      this.#nextCheckAt = now + this.#checkEveryMs;
      this.#reread();
    }
    return this.#value;
  }

  #reread(): void {
    const { path, parse, empty, maxBytes = 4 << 20 } = this.#options;
    try {
      const stat = statSync(path);
      const version = `${stat.ino} ${stat.mtimeMs} ${stat.size}`;
      // Anything but a regular file could block the process for ever (a FIFO).
      if (version === this.#seen || !stat.isFile() || stat.size > maxBytes) return;
      this.#value = parse(readFileSync(path, 'utf8'));
      this.#seen = version;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return;
      this.#value = empty;
      this.#seen = '';
    }
  }
}
