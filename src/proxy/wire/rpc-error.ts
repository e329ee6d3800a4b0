/** A call that did not come to be, with the gRPC status it ended with. Its owner translates it into a Fault. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  /** gRPC status code; OK (0) when the server ended the call in order before it had begun. */
  readonly code: number;
  readonly details: string;
  /** The server gave this status; false: it was made up here, because none came. */
  readonly fromServer: boolean;

  constructor(code: number, details: string, fromServer = false) {
    super(`gRPC status ${code}: ${details}`);
    this.code = code;
    this.details = details;
    this.fromServer = fromServer;
  }
}
