/** Resolves when `quiet` says so at a call of the returned `look`, after `withinMs`, or with the signal. */
export interface QuietWait {
  /** Looks again; cheap. */
  look(): void;
  readonly over: Promise<void>;
}

/** @param withinMs the most that is waited; 0 = not at all */
export function waitForQuiet(quiet: () => boolean, withinMs: number, hurry: AbortSignal): QuietWait {
  let done: () => void = () => {};
  const over = new Promise<void>((resolve) => {
    done = resolve;
  });
  const end = (): void => {
    clearTimeout(timer);
    hurry.removeEventListener('abort', end);
    done();
  };
  const timer = setTimeout(end, withinMs);
  hurry.addEventListener('abort', end);
  const look = (): void => {
    if (withinMs <= 0 || hurry.aborted || quiet()) end();
  };
  look();
  return { look, over };
}
