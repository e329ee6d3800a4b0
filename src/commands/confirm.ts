import { Fault } from '../proxy/ops/fault.ts';
import type { Operator } from './operator.ts';

const LONGEST_ANSWER = 1_000;

/**
 * Asks on the terminal. Anything but y or yes is a no, and so is the end of the input.
 * @throws Fault confirmation-missing when nobody can be asked; the signal's reason when it is interrupted
 */
export async function confirm(operator: Operator, question: string, why: string): Promise<boolean> {
  const { io, stopped, isTerminal } = operator;
  if (!isTerminal) {
    throw new Fault('confirmation-missing', `${why} asks first, and there is no terminal`, 'add --yes');
  }
  io.stderr.write(`${question} [y/N] `);
  try {
    const answer = await readLine(io.stdin, stopped);
    if (answer === undefined) io.stderr.write('\n');
    return /^y(es)?$/i.test(answer?.trim() ?? '');
  } catch (error) {
    io.stderr.write('\n');
    throw error;
  }
}

/** @returns undefined when the input ends before the line does */
function readLine(input: NodeJS.ReadableStream, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let text = '';
    const leave = (): void => {
      input.off('data', onData);
      input.off('end', onEnd);
      input.off('error', onEnd);
      signal.removeEventListener('abort', onAbort);
      input.pause();
    };
    const onEnd = (): void => {
      leave();
      resolve(undefined);
    };
    const onAbort = (): void => {
      leave();
      reject(signal.reason);
    };
    const onData = (chunk: Buffer | string): void => {
      text += String(chunk);
      const end = text.indexOf('\n');
      if (end < 0 && text.length < LONGEST_ANSWER) return;
      leave();
      resolve(end < 0 ? '' : text.slice(0, end));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    input.on('data', onData).on('end', onEnd).on('error', onEnd);
    if (signal.aborted) onAbort();
  });
}
