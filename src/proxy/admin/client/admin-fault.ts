import { status } from '@grpc/grpc-js';
import { Fault } from '../../ops/fault.ts';
import { connectFault } from '../../ops/tls-errors.ts';

/** What is used of grpc-js' ServiceError. */
export interface StatusError {
  readonly code: number;
  readonly details: string;
}

/**
 * The border to gRPC: what an admin service answered, or why it did not. The text of an answer is passed on, since it
 * is made for people.
 * @param connectionError what the TLS connection failed with, if that was seen
 */
export function adminFault(error: StatusError, address: string, connectionError?: unknown): Fault {
  const { code, details } = error;
  // grpc-js calls with these two fields; anything else is a bug of ours and passes unchanged.
  if (typeof code !== 'number') throw error;
  switch (code) {
    case status.PERMISSION_DENIED:
    case status.UNAUTHENTICATED:
      return new Fault('admin-denied', told(details, address, 'refuses this caller'), '', error);
    case status.NOT_FOUND:
      return new Fault('admin-not-found', told(details, address, 'knows no such thing'), '', error);
    case status.FAILED_PRECONDITION:
    case status.ABORTED:
    case status.RESOURCE_EXHAUSTED:
      return new Fault('admin-refused', told(details, address, 'refuses it'), '', error);
    case status.INVALID_ARGUMENT:
    case status.OUT_OF_RANGE:
      return new Fault(
        'admin-bad-request',
        told(details, address, 'does not understand the request'),
        '',
        error,
      );
    case status.UNIMPLEMENTED:
      return new Fault(
        'admin-unreachable',
        `${address} has no admin service that could answer this (${details})`,
        'check that it is the admin address of a konnectivity-ts server, and that the server is not older',
        error,
      );
    case status.DEADLINE_EXCEEDED:
      return new Fault(
        'admin-unreachable',
        `the admin service at ${address} does not answer in time`,
        'see whether the server is alive and not overloaded, and try again',
        error,
      );
    case status.UNAVAILABLE:
      return unavailable(details, address, connectionError, error);
    default:
      return new Fault(
        'admin-unreachable',
        `the admin service at ${address} failed (${status[code] ?? code}): ${details}`,
        "see the server's log",
        error,
      );
  }
}

function told(details: string, address: string, otherwise: string): string {
  return details === '' ? `the admin service at ${address} ${otherwise}` : details;
}

function unavailable(details: string, address: string, connectionError: unknown, cause: unknown): Fault {
  const why = connectFault(connectionError ?? details, address);
  return new Fault(
    'admin-unreachable',
    `the admin service cannot be reached: ${why.message}`,
    why.remedy ||
      'check that this is the admin address of a konnectivity-ts server, and that the server runs',
    cause,
  );
}
