/** One named check of a readiness endpoint. */
export interface HealthCheck {
  readonly name: string;
  readonly ok: boolean;
  /** For people: why it failed, or what there is to know although it did not; empty for nothing. */
  readonly note: string;
}

/** The list as Kubernetes components print it: `[+]name ok`, `[-]name failed: why`, and the outcome. */
export function checkList(checks: readonly HealthCheck[], ready: boolean): string {
  const lines = checks.map(({ name, ok, note }) => {
    if (!ok) return `[-]${name} failed${note === '' ? '' : `: ${note}`}`;
    return `[+]${name} ok${note === '' ? '' : ` (${note})`}`;
  });
  return `${lines.join('\n')}\ncheck ${ready ? 'passed' : 'failed'}\n`;
}
