/** What the command lines of all operator commands say about the servers to ask. */
export interface AdminFlags {
  readonly admin?: string;
  readonly adminCert?: string;
  readonly adminKey?: string;
  readonly adminCaCert?: string;
}

/** The ways in which a list is printed; text where none is given. */
export type OutputFlag = 'json' | 'wide' | 'name';
