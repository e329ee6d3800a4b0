import type { FaultCode } from './fault-code.ts';
import { oneLine } from './safe-text.ts';

export { oneLine } from './safe-text.ts';

/**
 * An error made for the person who has to act on it: what happened, with the value that caused it, and what to
 * do. Errors of Node, gRPC and TLS are translated into it at one border each; inside we know only this.
 */
export class Fault extends Error {
  /** Stable word for logs, metrics and docs/ERRORS.md, such as `port-in-use`. */
  readonly code: FaultCode;
  /** What the reader should do, without a full stop; empty when there is nothing to advise. */
  readonly remedy: string;

  constructor(code: FaultCode, message: string, remedy = '', cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'Fault';
    this.code = code;
    this.remedy = remedy;
  }

  /** The one line for stderr. */
  get line(): string {
    return oneLine(this.remedy === '' ? this.message : `${this.message}; ${this.remedy}`);
  }
}
