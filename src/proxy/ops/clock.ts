/** Time, handed in where tests want to move it themselves. */
export interface Clock {
  /** Milliseconds since 1970, as this machine has them; may jump. */
  wallMs(): number;
  /** Milliseconds of a clock that never goes back. */
  monoMs(): number;
  /** Resolves after that time, or at the signal. Never rejects. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** The longest that a timer of Node can be set to. */
const TIMER_MAX_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monoMs: () => performance.now(),
  wait: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) {
        resolve();
        return;
      }
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(ms, TIMER_MAX_MS));
      signal.addEventListener('abort', done);
    }),
};
