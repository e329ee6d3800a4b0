import { type FileHandle, mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';

/** The calls of the file system that a state file is written with; tests let each of them fail. */
export interface Disk {
  mkdir(path: string): Promise<void>;
  readFile(path: string): Promise<string>;
  open(path: string, flags: 'r' | 'w'): Promise<DiskFile>;
  rename(from: string, to: string): Promise<void>;
}

export interface DiskFile {
  write(text: string): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export const realDisk: Disk = {
  mkdir: async (path) => {
    await mkdir(path, { mode: 0o700 });
  },
  readFile: (path) => readFile(path, 'utf8'),
  open: async (path, flags) => handled(await open(path, flags, 0o600)),
  rename,
};

function handled(handle: FileHandle): DiskFile {
  return {
    write: (text) => handle.writeFile(text),
    sync: () => handle.sync(),
    close: () => handle.close(),
  };
}

/**
 * One file in a directory of its own that is replaced as a whole: whenever the machine stops, the file is the old or
 * the new one. Calls must not overlap.
 */
export class StateFile {
  readonly path: string;
  readonly #directory: string;
  readonly #disk: Disk;

  constructor(directory: string, name: string, disk: Disk = realDisk) {
    this.#directory = directory;
    this.path = join(directory, name);
    this.#disk = disk;
  }

  /** Makes the directory when it alone is missing. Rejects with Node's error. */
  async makeDirectory(): Promise<void> {
    try {
      await this.#disk.mkdir(this.#directory);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }

  /** Undefined when there is none. */
  async read(): Promise<string | undefined> {
    try {
      return await this.#disk.readFile(this.path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** When it resolves the text is on disk. Rejects with Node's error; the file is the old or the new one then. */
  async replace(text: string): Promise<void> {
    const next = `${this.path}.new`;
    const file = await this.#disk.open(next, 'w');
    try {
      await file.write(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await this.#disk.rename(next, this.path);
    await this.#syncDirectory();
  }

  /** Keeps it under another name, so that a new one can begin. @returns the name */
  async setAside(suffix: string): Promise<string> {
    const aside = `${this.path}.${suffix}`;
    await this.#disk.rename(this.path, aside);
    await this.#syncDirectory();
    return aside;
  }

  /** The name of a file is on disk only when its directory is. */
  async #syncDirectory(): Promise<void> {
    const directory = await this.#disk.open(this.#directory, 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }
}
