/**
 * An error made for the person who has to act on it: what happened, with the value that caused it, and what to
 * do. Errors of Node, gRPC and TLS are translated into it at one border each; inside we know only this.
 */
export class Fault extends Error {
  /** Stable word for logs, metrics and docs/ERRORS.md, such as `port-in-use`. */
  readonly code: string;
  /** What the reader should do, without a full stop; empty when there is nothing to advise. */
  readonly remedy: string;

  constructor(code: string, message: string, remedy = '', cause?: unknown) {
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

/** Text from outside made safe for one log or terminal line: control characters escaped, cut at `limit`. */
export function oneLine(text: string, limit = 500): string {
  const escaped = text.replace(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return escaped.length > limit ? `${escaped.slice(0, limit)}…` : escaped;
}
