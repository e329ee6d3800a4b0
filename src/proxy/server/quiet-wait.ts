/** A wait for something that has no event of its own. */
export interface QuietWait {
  /** Looks again; cheap. */
  look(): void;
  readonly over: Promise<void>;
}

/**
 * Waits until `quiet` says so at a call of look(), for `withinMs` at most (0 = not at all), or until `hurry` is aborted.
 */
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
