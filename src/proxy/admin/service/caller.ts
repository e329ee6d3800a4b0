/** Who calls. On the Unix socket everybody who may open it is an operator, and the name is what the client says. */
export interface Caller {
  readonly name: string;
  /** The name is only claimed. */
  readonly claimed: boolean;
  /** `none` may do nothing. */
  readonly role: 'operator' | 'viewer' | 'none';
  /** Where the call comes from, for logs. */
  readonly remote: string;
}
