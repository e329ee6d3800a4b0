import { status } from '@grpc/grpc-js';
import { Fault } from '../../ops/fault.ts';
import type { FaultCode } from '../../ops/fault-code.ts';

import { cut } from '../../ops/safe-text.ts';

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

/** It travels in a header, as much as three bytes for each, which has a bound of 64 KiB at most clients. */
const MOST_CHARACTERS = 2_000;

/** The border to gRPC on the server's side: what a client is told. What is no Fault is a bug of ours. */
export function statusOfFault(error: unknown): { readonly code: number; readonly details: string } {
  if (!(error instanceof Fault)) {
    return { code: status.INTERNAL, details: 'the server failed to answer this: see its log' };
  }
  return { code: CODES[error.code] ?? status.FAILED_PRECONDITION, details: cut(error.line, MOST_CHARACTERS) };
}
