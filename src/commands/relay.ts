import type { Duplex } from 'node:stream';
import { Fault } from '../proxy/ops/fault.ts';

/** How a relay ended, and what it carried. */
export interface RelayEnd {
  /** `peer`: the other side ended in order; `reader-gone`: nobody reads our output any more. */
  readonly cause: 'peer' | 'reader-gone' | 'interrupted';
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

export interface RelayOptions {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** At the end of the input, end the sending side of the tunnel. */
  readonly endWithInput: boolean;
  readonly signal: AbortSignal;
  onFirstByte(): void;
}

/**
 * Copies input -> tunnel -> output, each no faster than it is taken, until the tunnel ends, nobody reads the output,
 * or the signal is aborted; then destroys the tunnel. Rejects with the error that broke the tunnel, or with a Fault
 * `input-failed` or `output-failed`.
 */
export function relay(tunnel: Duplex, options: RelayOptions): Promise<RelayEnd> {
  const { input, output, signal } = options;
  let bytesSent = 0;
  let bytesReceived = 0;
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      signal.removeEventListener('abort', onAbort);
      input.off('data', onInput).off('end', onInputEnd).off('error', onInputError);
      output.off('drain', onOutputDrain).off('error', onOutputError);
      // A reader of the output may go at any time, also while nobody listens.
      output.on('error', () => {});
      tunnel.destroy();
      // Without this an open stdin would keep the process.
      (input as Partial<Duplex>).destroy?.();
    };
    const finish = (cause: RelayEnd['cause']): void => {
      stop();
      resolve({ cause, bytesSent, bytesReceived });
    };
    const fail = (error: Error): void => {
      stop();
      reject(error);
    };
    const onAbort = (): void => finish('interrupted');
    const onInput = (chunk: Buffer): void => {
      bytesSent += chunk.length;
      if (!tunnel.write(chunk)) input.pause();
    };
    const onInputEnd = (): void => {
      if (options.endWithInput) tunnel.end();
    };
    const onOutputDrain = (): void => {
      tunnel.resume();
    };
    const onOutputError = (error: NodeJS.ErrnoException): void => {
      if (error.code === 'EPIPE') finish('reader-gone');
      else fail(new Fault('output-failed', `stdout cannot be written: ${error.code ?? error.message}`));
    };
    const onInputError = (error: NodeJS.ErrnoException): void =>
      fail(new Fault('input-failed', `stdin cannot be read: ${error.code ?? error.message}`));
    const onTunnelClose = (): void => fail(new Error('closed'));
    const onTunnelEnd = (): void => {
      // What happens to our sending side from here on changes nothing.
      tunnel.off('error', fail).off('close', onTunnelClose);
      // Its callback comes when all that was written before has been taken.
      output.write('', () => finish('peer'));
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    output.on('drain', onOutputDrain).on('error', onOutputError);
    tunnel.on('drain', () => input.resume());
    tunnel.once('error', fail);
    if (tunnel.readableEnded) return onTunnelEnd();
    tunnel.once('end', onTunnelEnd);
    tunnel.once('close', onTunnelClose);
    tunnel.on('data', (chunk: Buffer) => {
      if (bytesReceived === 0) options.onFirstByte();
      bytesReceived += chunk.length;
      if (!output.write(chunk)) tunnel.pause();
    });
    input.on('data', onInput).on('end', onInputEnd).on('error', onInputError);
  });
}
