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

/** Ends that a peer should be able to tell from the orderly end of a stream. */
export function isAbnormal(reason: CloseReason): boolean {
  return reason !== 'frontend-closed' && reason !== 'endpoint-closed';
}
