import type { Operator } from './operator.ts';

/**
 * Runs what changes something, and says what is known of it when Ctrl-C comes in between.
 * @param change calls `sending` before it sends the change itself
 * @throws what the change throws
 */
export async function tellingInterruption<T>(
  operator: Operator,
  change: (sending: () => void) => Promise<T>,
): Promise<T> {
  let isSent = false;
  try {
    return await change(() => {
      isSent = true;
    });
  } catch (error) {
    if (operator.stopped.aborted) {
      operator.say(
        isSent
          ? `interrupted while it was sent: some servers may have done it; see ${operator.command('events', '--since', '1m')}`
          : 'nothing was changed',
      );
    }
    throw error;
  }
}
