/** What went wrong, in one line for the screen. Faults of the client carry one that was made for people. */
export function reasonText(error: unknown): string {
  if (error instanceof Error) {
    if (error.name === 'TimeoutError') return 'the server does not answer';
    const { line } = error as { line?: unknown };
    return (typeof line === 'string' ? line : error.message).split('\n')[0] ?? '';
  }
  return String(error);
}
