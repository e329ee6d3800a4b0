/** What the API answers instead of an object. */
export interface Refusal {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  /** The Retry-After header. */
  readonly retryAfterSeconds?: number;
}

/** The reasons that the API gives with its codes. */
const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** A refusal with the reason that belongs to its code. */
export function refusal(code: number, message: string, more: Partial<Refusal> = {}): Refusal {
  return { code, message, reason: REASONS[code] ?? 'Unknown', ...more };
}

/** The Status object of a refusal, as the API writes it. */
export function statusObject(refused: Refusal): object {
  const { code, reason, message, retryAfterSeconds } = refused;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    ...(retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }),
    code,
  };
}

/** What the API answers to a deletion. */
export function deletedStatus(name: string, uid: string): object {
  const details = { name, group: 'coordination.k8s.io', kind: 'leases', uid };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}
