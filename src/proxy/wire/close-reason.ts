/**
 * Why a tunnel ended: a closed list, one per tunnel, the same word in log, metric and API (docs/CLOSE-REASONS.md).
 */
export const closeReasons = [
  'frontend-closed',
  'frontend-lost',
  'endpoint-closed',
  'endpoint-lost',
  'agent-lost',
  'server-lost',
  'slow-consumer',
  'half-close-timeout',
  'malformed-packet',
  'protocol-error',
  'drain-deadline',
  'closed-by-operator',
  'stopping',
] as const;

export type CloseReason = (typeof closeReasons)[number];

/** Why our agents cut tunnels: so they say in CLOSE_RSP, in place of what the system said of the destination. */
const agentReasons: ReadonlySet<string> = new Set<CloseReason>([
  'slow-consumer',
  'protocol-error',
  'drain-deadline',
  'stopping',
]);

/** The reason behind the error text of a CLOSE_RSP; `ours`: of an agent of ours. */
export function reasonOfAgent(error: string, ours: boolean): CloseReason {
  if (error === '') return 'endpoint-closed';
  return ours && agentReasons.has(error) ? (error as CloseReason) : 'endpoint-lost';
}

/** Ends that a peer should be able to tell from the orderly end of a stream. */
export function isAbnormal(reason: CloseReason): boolean {
  return reason !== 'frontend-closed' && reason !== 'endpoint-closed';
}
