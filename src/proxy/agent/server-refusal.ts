import { status } from '@grpc/grpc-js';
import { Fault, oneLine } from '../ops/fault.ts';

/** `PERMISSION_DENIED: words`, for a gRPC status that a server gave; the words alone for OK. */
export function statusWords(code: number, details: string): string {
  const words = oneLine(details, 300);
  if (code === status.OK) return words === '' || words === 'OK' ? 'the server ended the stream' : words;
  const name = status[code] ?? `status ${code}`;
  return words === '' ? name : `${name}: ${words}`;
}

/** Why a server that was reached did not take our stream, in its own words. `server` is its address. */
export function serverRefusal(server: string, code: number, details: string): Fault {
  return new Fault(
    'server-refused',
    `server ${server} refused the stream: ${statusWords(code, details)}`,
    remedyFor(code),
  );
}

function remedyFor(code: number): string {
  switch (code) {
    case status.UNAVAILABLE:
      return "see the server's log";
    case status.UNAUTHENTICATED:
    case status.PERMISSION_DENIED:
      return "check the agent's service account token, and the audience that the server wants";
    case status.UNIMPLEMENTED:
    case status.OK:
      return 'check that the address is the agent port of a konnectivity server';
    default:
      return '';
  }
}
