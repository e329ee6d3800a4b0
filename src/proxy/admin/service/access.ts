import type { PeerCertificate } from 'node:tls';
import type { Metadata } from '@grpc/grpc-js';
import { Fault } from '../../ops/fault.ts';
import type { Caller } from './caller.ts';

const OPERATORS = 'konnectivity-ts:operators';
const VIEWERS = 'konnectivity-ts:viewers';
/** Metadata in which a client of the Unix socket says who it is. */
const ACTOR_KEY = 'kts-actor';
const MOST_NAME_CHARACTERS = 256;

/** What is used of a grpc-js server call to know who calls. */
export interface IncomingCall {
  readonly metadata: Metadata;
  getPeer(): string;
  getAuthContext(): { readonly sslPeerCertificate?: PeerCertificate | undefined };
}

/** Who calls on the Unix socket: whoever may open it may do everything, and has the name that it gives itself. */
export function socketCaller({ metadata }: IncomingCall): Caller {
  const said = metadata.get(ACTOR_KEY)[0];
  const name = said === undefined ? '' : String(said).slice(0, MOST_NAME_CHARACTERS);
  return { name, claimed: true, role: 'operator', remote: 'unix' };
}

/** Who calls on TCP: the organisation of the client certificate decides. @throws Fault `admin-denied` */
export function certificateCaller(call: IncomingCall): Caller {
  const subject = call.getAuthContext().sslPeerCertificate?.subject;
  const name = all(subject?.CN)[0] ?? '';
  const organizations = all(subject?.O);
  const remote = call.getPeer();
  if (organizations.includes(OPERATORS)) return { name, claimed: false, role: 'operator', remote };
  if (organizations.includes(VIEWERS)) return { name, claimed: false, role: 'viewer', remote };
  throw new Fault(
    'admin-denied',
    `the client certificate of ${JSON.stringify(name)} gives no role here`,
    `its organisation (O) has to be ${OPERATORS} or ${VIEWERS}`,
  );
}

/** Node gives one value as text and several as a list, whatever its types say. */
function all(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}
