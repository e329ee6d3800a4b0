import type { ColorSupportLevel } from 'chalk';
import { render } from 'ink';
import { frame } from '../layout/frame.ts';
import { isStale, type TopState } from '../state/top-state.ts';
import { painter } from './paint.ts';
import { Screen } from './screen.tsx';
import type { Surface } from './surface.ts';

/** The Ink app: shows a state as a frame on a surface. Input is not Ink's: the session reads the keys. */
export class InkScreen {
  readonly #paint: ReturnType<typeof painter>;
  readonly #surface: Surface;
  #ink: ReturnType<typeof render> | undefined;
  #closed = false;
  #shown: readonly string[] = [];
  #turns: readonly number[] = [];

  constructor(surface: Surface, level: ColorSupportLevel) {
    this.#surface = surface;
    this.#paint = painter(level);
  }

  show(state: TopState): void {
    if (this.#closed) return;
    const stale = isStale(state);
    const lines = frame(state).map((line) => this.#paint(line, stale));
    const changed = (i: number): boolean => this.#surface.blank || lines[i] !== this.#shown[i];
    if (!lines.some((_, i) => changed(i))) return;
    this.#turns = lines.map((_, i) => (changed(i) ? 1 - (this.#turns[i] ?? 1) : (this.#turns[i] ?? 0)));
    this.#shown = lines;
    this.#surface.take(lines);
    const screen = <Screen turns={this.#turns} />;
    if (this.#ink !== undefined) {
      this.#ink.rerender(screen);
      return;
    }
    this.#ink = render(screen, {
      // What Ink uses of a stream is what a Surface has.
      stdout: this.#surface as unknown as NodeJS.WriteStream,
      stdin: process.stdin,
      // Whole frames, each at once: how often is decided by whoever calls `show`.
      debug: true,
      patchConsole: false,
      exitOnCtrlC: false,
    });
  }

  close(): void {
    this.#closed = true;
    this.#surface.shut();
    this.#ink?.unmount();
    this.#ink = undefined;
  }
}
