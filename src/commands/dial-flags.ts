/** What the command line of `dial` says. */
export interface DialFlags {
  readonly server: string;
  readonly mode: string;
  readonly cert?: string;
  readonly key?: string;
  readonly caCert?: string;
  readonly timeout: string;
  readonly shutdown?: true;
  readonly verbose?: true;
}
