import type { Clock } from '../../ops/clock.ts';
import { Fault } from '../../ops/fault.ts';
import type { Log } from '../../ops/log.ts';
import type { DrainEvent } from './drain-words.ts';
import { formatOrders, type KeptOrders, parseOrders } from './order-file.ts';
import { type Disk, StateFile } from './state-file.ts';

/** What it is made of. */
export interface OrderKeeperOptions {
  /** --state-dir. */
  readonly directory: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly disk?: Disk;
  /** Between two writes, however much changes. */
  readonly pauseMs: number;
  /** After a write that failed. */
  readonly retryMs: number;
  onEvent(event: DrainEvent): void;
}

const NOTHING: KeptOrders = { orders: [], ended: [] };
/** A disk that is full today should not keep a cluster's way to its nodes closed. */
const PASSING = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE']);

/**
 * Keeps orders in the state directory. One write at a time, of everything as it is then: what changes meanwhile goes
 * with the next one.
 */
export class OrderKeeper {
  readonly #options: OrderKeeperOptions;
  readonly #file: StateFile;
  readonly #closing = new AbortController();
  /** Ends the wait for the next attempt, because something changed. */
  #hurry: (() => void) | undefined;
  #state: () => KeptOrders = () => NOTHING;
  #changed = 0;
  #written = 0;
  #running: Promise<void> | undefined;
  #waiting: { change: number; settle: (note: string | undefined) => void }[] = [];
  #failed = false;

  constructor(options: OrderKeeperOptions) {
    this.#options = options;
    this.#file = new StateFile(options.directory, 'orders.json', options.disk);
  }

  /**
   * Reads what is kept. A file that cannot be understood is set aside, and said.
   * @throws Fault `state-directory` when the directory cannot be used
   */
  async open(): Promise<KeptOrders> {
    try {
      await this.#file.makeDirectory();
      const text = await this.#file.read();
      const kept = text === undefined ? NOTHING : await this.#parse(text);
      await this.#tryOut(kept);
      return kept;
    } catch (error) {
      const { directory } = this.#options;
      const remedy = 'give a directory that this server may write, and no other one does';
      throw new Fault(
        'state-directory',
        `--state-dir ${directory} cannot be used: ${reason(error)}`,
        remedy,
        error,
      );
    }
  }

  /** From now on what `state` returns is what is to be kept. */
  keep(state: () => KeptOrders): void {
    this.#state = state;
    if (this.#written !== this.#changed) this.#start();
  }

  /** Something of it changed. */
  changed(): void {
    this.#changed++;
    this.#hurry?.();
    this.#start();
  }

  /**
   * Resolves when everything up to now is on disk, or could not be written: then with words for the operator. Never
   * rejects.
   */
  durable(): Promise<string | undefined> {
    if (this.#written === this.#changed) return Promise.resolve(undefined);
    this.#hurry?.();
    this.#start();
    return new Promise((settle) => this.#waiting.push({ change: this.#changed, settle }));
  }

  /** Writes what is left, once. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    if (this.#written !== this.#changed) await this.#write();
    this.#settle(this.#changed, undefined);
  }

  #start(): void {
    if (this.#running !== undefined || this.#closing.signal.aborted) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  async #run(): Promise<void> {
    const { clock, pauseMs, retryMs } = this.#options;
    const { signal } = this.#closing;
    // What changes in one step of the event loop goes together.
    await Promise.resolve();
    while (this.#written !== this.#changed && !signal.aborted) {
      const seen = this.#changed;
      const done = await this.#write();
      if (pauseMs > 0) await clock.wait(pauseMs, signal);
      if (!done && this.#changed === seen) await this.#waitForChange(retryMs);
    }
  }

  async #waitForChange(withinMs: number): Promise<void> {
    const change = new AbortController();
    this.#hurry = () => change.abort();
    await this.#options.clock.wait(withinMs, AbortSignal.any([change.signal, this.#closing.signal]));
    this.#hurry = undefined;
  }

  async #write(): Promise<boolean> {
    const change = this.#changed;
    try {
      await this.#file.replace(formatOrders(this.#state()));
    } catch (error) {
      const why = reason(error);
      this.#sayFailed(why);
      this.#settle(
        change,
        `not kept in the state directory (${why}): it would not survive a restart of this server`,
      );
      return false;
    }
    this.#written = change;
    this.#sayWorked();
    this.#settle(change, undefined);
    return true;
  }

  #settle(change: number, note: string | undefined): void {
    const settled = this.#waiting.filter((one) => one.change <= change);
    this.#waiting = this.#waiting.filter((one) => one.change > change);
    for (const { settle } of settled) settle(note);
  }

  async #parse(text: string): Promise<KeptOrders> {
    try {
      return parseOrders(text);
    } catch (error) {
      const time = new Date(this.#options.clock.wallMs()).toISOString().replace(/[-:]|\.\d+/g, '');
      const aside = await this.#file.setAside(`damaged-${time}`);
      const fields = { file: this.#file.path, reason: reason(error), setAside: aside };
      this.#options.log.error('Drain orders that were kept cannot be read: beginning without any', fields);
      const message = `kept drain orders cannot be read (${reason(error)}); the file is set aside as ${aside}`;
      this.#options.onEvent({ type: 'orders-damaged', message });
      return NOTHING;
    }
  }

  /** Finds out at the start, not at the first order, that the directory cannot be written. */
  async #tryOut(kept: KeptOrders): Promise<void> {
    try {
      await this.#file.replace(formatOrders(kept));
    } catch (error) {
      if (!PASSING.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
      this.#sayFailed(reason(error));
      this.#changed++;
    }
  }

  #sayFailed(why: string): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#options.log.error('Drain orders cannot be kept: they would not survive a restart', {
      file: this.#file.path,
      reason: why,
    });
    const message = `drain orders cannot be kept in ${this.#file.path} (${why})`;
    this.#options.onEvent({ type: 'orders-not-kept', message });
  }

  #sayWorked(): void {
    if (!this.#failed) return;
    this.#failed = false;
    this.#options.log.info(0, 'Drain orders are kept again', { file: this.#file.path });
    this.#options.onEvent({
      type: 'orders-kept',
      message: `drain orders are kept again in ${this.#file.path}`,
    });
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
