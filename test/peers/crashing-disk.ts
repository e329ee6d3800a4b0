import { basename, dirname } from 'node:path';
import type { Disk, DiskFile } from '../../src/proxy/server/drain/state-file.ts';

/** What a file holds: as programs read it, and as it is after a loss of power. */
interface Inode {
  text: string;
  synced: string;
}

type Directory = ReadonlyMap<string, Inode>;

const never = <T>(): Promise<T> => new Promise<T>(() => {});

/**
 * One directory of a disk that writes when it likes: what was not synced may be lost at a loss of power, names and texts
 * apart. The machine stops at the call with the number `stopAt`, which and all later ones never return.
 */
export class CrashingDisk implements Disk {
  calls = 0;
  /** Resolves when the machine stopped. */
  readonly stopped: Promise<void>;
  readonly #stopAt: number;
  #stop: () => void = () => {};
  #names: Map<string, Inode>;
  #synced: Directory;

  constructor(stopAt: number, files: Directory = new Map()) {
    this.#stopAt = stopAt;
    this.#names = new Map(files);
    this.#synced = new Map(files);
    this.stopped = new Promise((resolve) => {
      this.#stop = resolve;
    });
  }

  /** Every disk that may be found after the loss of power: with the new names or the old, and each text whole, half or lost. */
  *found(): Generator<CrashingDisk> {
    const directories: Directory[] = [this.#names, this.#synced];
    const texts: ((inode: Inode) => string)[] = [
      ({ text }) => text,
      ({ synced }) => synced,
      ({ text, synced }) => (text === synced ? text : text.slice(0, text.length / 2)),
    ];
    for (const names of directories) {
      for (const textOf of texts) {
        const files = [...names].map(([name, inode]): [string, Inode] => {
          const text = textOf(inode);
          return [name, { text, synced: text }];
        });
        yield new CrashingDisk(Number.POSITIVE_INFINITY, new Map(files));
      }
    }
  }

  mkdir(): Promise<void> {
    return this.#call(() => {});
  }

  readFile(path: string): Promise<string> {
    return this.#call(() => {
      const inode = this.#names.get(basename(path));
      if (inode === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
      return inode.text;
    });
  }

  open(path: string, flags: 'r' | 'w'): Promise<DiskFile> {
    return this.#call(() => (flags === 'r' ? this.#openDirectory() : this.#create(path)));
  }

  rename(from: string, to: string): Promise<void> {
    return this.#call(() => {
      if (dirname(from) !== dirname(to)) throw new Error('another directory');
      const inode = this.#names.get(basename(from));
      if (inode === undefined) throw Object.assign(new Error(`ENOENT: ${from}`), { code: 'ENOENT' });
      this.#names.delete(basename(from));
      this.#names.set(basename(to), inode);
    });
  }

  #create(path: string): DiskFile {
    const inode: Inode = { text: '', synced: '' };
    this.#names.set(basename(path), inode);
    return {
      write: (text) =>
        this.#call(() => {
          inode.text = text;
        }),
      sync: () =>
        this.#call(() => {
          inode.synced = inode.text;
        }),
      close: () => this.#call(() => {}),
    };
  }

  #openDirectory(): DiskFile {
    return {
      write: () => Promise.reject(new Error('EISDIR')),
      sync: () =>
        this.#call(() => {
          this.#synced = new Map(this.#names);
        }),
      close: () => this.#call(() => {}),
    };
  }

  /** Done or not, the call at which the machine stops never returns. */
  async #call<T>(done: () => T): Promise<T> {
    const number = this.calls++;
    if (number < this.#stopAt) return done();
    if (number > this.#stopAt) return await never<T>();
    this.#stop();
    try {
      done();
    } catch {
      // Nobody hears of it.
    }
    return await never<T>();
  }
}
