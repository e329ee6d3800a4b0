/**
 * What a dial has come to: `connecting` to the server; `connected` (TCP or Unix socket); `secured` (TLS handshake
 * done on our side: with TLS 1.3 the server may still refuse our certificate); `requested` (the dial is sent);
 * `answered` (the tunnel stands).
 */
export interface DialStep {
  readonly name: 'connecting' | 'connected' | 'secured' | 'requested' | 'answered';
  /** Words for people. */
  readonly text: string;
}

/** What each way of dialling is given. */
export interface DialParts {
  /** `host:port` of the destination, checked. */
  readonly address: string;
  /** Aborted, with a Fault as its reason, when the time is over or the caller gives up. */
  readonly signal: AbortSignal;
  onStep(step: DialStep): void;
}
