import { status } from '@grpc/grpc-js';
import { Fault } from '../../ops/fault.ts';
import type { FaultCode } from '../../ops/fault-code.ts';

const CODES: Partial<Record<FaultCode, number>> = {
  'admin-bad-request': status.INVALID_ARGUMENT,
  'bad-order': status.INVALID_ARGUMENT,
  'admin-not-found': status.NOT_FOUND,
  'agent-unknown': status.NOT_FOUND,
  'admin-refused': status.FAILED_PRECONDITION,
  'drain-refused': status.FAILED_PRECONDITION,
  'undrain-refused': status.FAILED_PRECONDITION,
  'too-many-orders': status.RESOURCE_EXHAUSTED,
  'admin-denied': status.PERMISSION_DENIED,
};

/** The border to gRPC on the server's side: what a client is told. What is no Fault is a bug of ours. */
export function statusOfFault(error: unknown): { readonly code: number; readonly details: string } {
  if (!(error instanceof Fault)) {
    return { code: status.INTERNAL, details: 'the server failed to answer this: see its log' };
  }
  return { code: CODES[error.code] ?? status.FAILED_PRECONDITION, details: error.line };
}
