import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rename, unlink } from 'node:fs/promises';
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
  readFile: readWhole,
  open: async (path, flags) => handled(flags === 'r' ? await open(path, flags) : await create(path)),
  rename,
};

const { O_CREAT, O_EXCL, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
/** More orders than there can be do not take as much. */
const MOST_BYTES = 256 * 1024 * 1024;

/** Opening a FIFO or a device would wait, or never end: whoever may write to the directory could stop us so. */
async function readWhole(path: string): Promise<string> {
  const file = await open(path, O_RDONLY | O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new Error(`${path} is no regular file`);
    if (found.size > MOST_BYTES) throw new Error(`${path} is larger than ${MOST_BYTES / 1024 / 1024} MiB`);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** Never what is there already, which may be a link to somewhere else. */
async function create(path: string): Promise<FileHandle> {
  try {
    await unlink(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return await open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600);
}

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
