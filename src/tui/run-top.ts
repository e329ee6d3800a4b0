import type { ReadStream, WriteStream } from 'node:tty';
import type { ColorSupportLevel } from 'chalk';
import type { AdminClient } from '../proxy/admin/client/admin-client.ts';
import type { Glyphs } from './badge.ts';
import { FleetBook } from './link/fleet-book.ts';
import { Runner } from './link/runner.ts';
import { defaultWatchTimes, ServerWatch, type WatchTimes } from './link/server-watch.ts';
import { InkScreen } from './paint/ink-screen.tsx';
import { Surface } from './paint/surface.ts';
import type { TopEvent } from './state/event.ts';
import { reduce } from './state/reduce.ts';
import { startState, type TopState } from './state/top-state.ts';
import { wantedOf } from './state/wanted.ts';
import type { Key } from './terminal/key.ts';
import { KeyReader } from './terminal/key-reader.ts';
import { TerminalSession } from './terminal/terminal-session.ts';
import { TypingPace } from './terminal/typing-pace.ts';

export interface TopOptions {
  readonly clients: readonly AdminClient[];
  readonly input: ReadStream;
  readonly output: WriteStream;
  readonly glyphs: Glyphs;
  readonly colours: ColorSupportLevel;
  readonly readOnly: boolean;
  /** The demo's lines are behind it: a key returns to them. */
  readonly inDemo?: boolean;
  /** Ends it, as `q` does. */
  readonly signal: AbortSignal;
  readonly times?: WatchTimes;
}

/** By a key, by the one that asks for the demo's lines, or because the terminal hung up. */
export type TopEnd = 'quit' | 'lines' | 'hung-up';

/** What servers say is shown together when it comes together; a key is shown at once. */
const FRAME_MS = 250;
/** Agents mostly come within so long after the start, and one whole picture says more than an empty one before it. */
const FIRST_FRAME_MS = 100;
/** Rates come every second, as the agents do: they wait for them, so that it is one frame and not two. */
const RATES_FRAME_MS = 1_000;
/** A lone escape is one when nothing follows for so long. */
const ESCAPE_MS = 50;
const TICK_MS = 1_000;
const RETURN_MS = 200;

/**
 * Runs the screen until it is left. Gives the terminal back whatever happens.
 * @returns how it was left @throws what went wrong inside
 */
export async function runTop(options: TopOptions): Promise<TopEnd> {
  const top = new Top(options);
  return await top.run();
}

class Top {
  readonly #options: TopOptions;
  readonly #session: TerminalSession;
  readonly #surface: Surface;
  readonly #screen: InkScreen;
  readonly #runner: Runner;
  readonly #watches: readonly ServerWatch[];
  readonly #book = new FleetBook();
  readonly #stop = new AbortController();
  readonly #reader = new KeyReader();
  readonly #pace = new TypingPace();
  #state: TopState;
  #frame: NodeJS.Timeout | undefined;
  #frameAtMs = 0;
  #fleet: NodeJS.Immediate | undefined;
  #escape: NodeJS.Timeout | undefined;
  #failure: unknown;
  #how: TopEnd = 'quit';
  #end: () => void = () => {};

  constructor(options: TopOptions) {
    this.#options = options;
    const { output, clients, glyphs, readOnly, colours, inDemo = false } = options;
    this.#session = new TerminalSession(options.input, output);
    const size = sizeOf(output);
    this.#surface = new Surface((text) => void output.write(text), size.rows);
    this.#screen = new InkScreen(this.#surface, colours);
    this.#state = startState({
      addresses: clients.map(({ address }) => address),
      ...size,
      nowMs: Date.now(),
      glyphs,
      readOnly,
      inDemo,
    });
    this.#watches = clients.map(
      (client) => new ServerWatch(client, () => this.#fleetChanged(), options.times ?? defaultWatchTimes),
    );
    this.#runner = new Runner({
      clients,
      dispatch: (event) => this.#dispatch(event),
      servers: () => this.#watches.map(({ state }) => state),
    });
  }

  async run(): Promise<TopEnd> {
    const { input, output, signal } = this.#options;
    const ended = new Promise<void>((resolve) => {
      this.#end = resolve;
    });
    const leave = (): void => this.#session.leave();
    const onData = (chunk: Buffer): void => this.#guarded(() => this.#read(chunk));
    const onResize = (): void => this.#guarded(() => this.#resized());
    const onContinue = (): void => this.#guarded(() => this.#resume());
    // Whatever ends the process, the terminal is given back before its last words.
    process.on('exit', leave);
    process.on('uncaughtExceptionMonitor', leave);
    process.on('SIGCONT', onContinue);
    const onHangup = (): void => {
      this.#how = 'hung-up';
      this.#end();
    };
    process.on('SIGHUP', onHangup);
    signal.addEventListener('abort', this.#end, { once: true });
    input.on('data', onData);
    input.on('end', this.#end);
    input.on('error', this.#end);
    output.on('error', this.#end);
    output.on('resize', onResize);
    // Ages grow also while nobody says anything.
    const tick = setInterval(() => {
      if (Date.now() - this.#state.nowMs >= TICK_MS) this.#dispatch({ type: 'tick', nowMs: Date.now() });
    }, TICK_MS);
    try {
      if (signal.aborted) return this.#how;
      this.#session.enter();
      this.#surface.open();
      this.#drawWithin(FIRST_FRAME_MS);
      for (const watch of this.#watches)
        void watch.run(this.#stop.signal).catch((error) => this.#fail(error));
      await ended;
      if (this.#failure !== undefined) throw this.#failure;
      return this.#how;
    } finally {
      this.#stop.abort();
      this.#runner.close();
      clearInterval(tick);
      clearTimeout(this.#frame);
      clearTimeout(this.#escape);
      clearImmediate(this.#fleet);
      this.#screen.close();
      leave();
      input.off('data', onData);
      input.off('end', this.#end);
      input.off('error', this.#end);
      output.off('resize', onResize);
      process.off('SIGCONT', onContinue);
      process.off('SIGHUP', onHangup);
      process.off('exit', leave);
      process.off('uncaughtExceptionMonitor', leave);
    }
  }

  #dispatch(event: TopEvent): void {
    this.#guarded(() => {
      const before = this.#state;
      this.#state = reduce(before, event);
      if (this.#state === before) return;
      this.#runner.follow(wantedOf(this.#state), this.#state.scope);
      this.#wishes();
      const first = event.type === 'fleet' && !isLive(before) && isLive(this.#state);
      if (first || event.type === 'read' || event.type === 'resized') this.#draw();
      else this.#drawWithin(event.type === 'rates' ? RATES_FRAME_MS : FRAME_MS);
    });
  }

  #drawWithin(ms: number): void {
    const atMs = performance.now() + ms;
    if (this.#frame !== undefined && this.#frameAtMs <= atMs) return;
    clearTimeout(this.#frame);
    this.#frameAtMs = atMs;
    this.#frame = setTimeout(() => this.#guarded(() => this.#draw()), ms);
  }

  #draw(): void {
    clearTimeout(this.#frame);
    this.#frame = undefined;
    if (!this.#stop.signal.aborted) this.#screen.show(this.#state);
  }

  /** Does what a key asked of the session itself. */
  #wishes(): void {
    const { wants } = this.#state;
    if (wants === undefined) return;
    this.#state = reduce(this.#state, { type: 'granted' });
    if (wants === 'lines') this.#how = 'lines';
    if (wants === 'quit' || wants === 'lines') this.#end();
    if (wants === 'redraw') this.#surface.open();
    if (wants === 'suspend') this.#suspend();
  }

  #suspend(): void {
    this.#surface.shut();
    this.#session.leave();
    // As a shell expects it of Ctrl-Z: the whole job stops, and SIGCONT comes with fg. Where there is no shell to come
    // back from, the signal does nothing, and the screen returns by itself.
    process.kill(0, 'SIGTSTP');
    setTimeout(() => this.#guarded(() => this.#resume()), RETURN_MS);
  }

  #resume(): void {
    if (this.#stop.signal.aborted) return;
    // Left again, because the shell has set the terminal to its own ways meanwhile.
    this.#session.leave();
    this.#session.enter();
    this.#surface.open();
    this.#resized();
    this.#draw();
  }

  #resized(): void {
    const { columns, rows } = sizeOf(this.#options.output);
    this.#surface.resize(rows);
    this.#dispatch({ type: 'resized', columns, rows });
  }

  #read(chunk: Buffer): void {
    clearTimeout(this.#escape);
    const typed = this.#pace.read(chunk.length, performance.now());
    this.#keys(this.#reader.read(chunk), typed);
    if (this.#reader.waiting) {
      this.#escape = setTimeout(() => this.#keys(this.#reader.flush(), true), ESCAPE_MS);
    }
  }

  #keys(keys: readonly Key[], typed: boolean): void {
    if (keys.length > 0) this.#dispatch({ type: 'read', keys, ...(typed ? {} : { pasted: true }) });
  }

  /** Several servers that change at the same time are merged once. */
  #fleetChanged(): void {
    if (this.#stop.signal.aborted) return;
    this.#fleet ??= setImmediate(() => {
      this.#fleet = undefined;
      this.#guarded(() => {
        const servers = this.#watches.map(({ state }) => state);
        this.#dispatch({ type: 'fleet', nowMs: Date.now(), servers, everything: this.#book.merge(servers) });
      });
    });
  }

  /** An error in here ends the screen; it is told after the terminal was given back. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#end();
  }
}

/** Whether a server was heard of. */
function isLive({ servers }: TopState): boolean {
  return servers.some(({ link }) => link.kind === 'live');
}

/** A serial line, or a terminal that nobody told its size, says 0: then it is as large as terminals have always been. */
function sizeOf({ columns, rows }: WriteStream): { columns: number; rows: number } {
  return { columns: columns || 80, rows: rows || 24 };
}
