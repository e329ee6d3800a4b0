/** What the command line of `demo` says. */
export interface DemoFlags {
  readonly once?: true;
  readonly story?: 'drain';
  readonly seconds: string;
}
