/** What somebody who checks agents says of one. The reason goes to the agent and into the log. */
export type AgentVerdict =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly why: string; readonly reason: string }
  /** It cannot be told now: the agent should come again. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** Checks agents beyond what TLS does. */
export interface AgentAuthenticator {
  /**
   * Judges an agent by the values of its `authorization` header. Rejects only for bugs; ends early with the signal,
   * after which nobody asks for the verdict.
   */
  check(authorization: readonly unknown[], signal: AbortSignal): Promise<AgentVerdict>;
}
