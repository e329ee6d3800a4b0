import type { Metadata } from '@grpc/grpc-js';
import { Fault, oneLine } from '../ops/fault.ts';
import { FEATURES_KEY, type Feature, negotiate, VERSION_KEY } from '../wire/extension.ts';

/** What the server said of itself in its response headers. */
export interface ServerIdentity {
  readonly serverId: string;
  readonly serverCount: number;
  readonly version: string | undefined;
  readonly features: ReadonlySet<Feature>;
}

/** Reads it; a Fault `not-a-server` when it is not there. */
export function readIdentity(headers: Metadata): ServerIdentity | Fault {
  const one = (key: string): string | undefined => {
    const values = headers.get(key);
    return values.length === 1 ? String(values[0]) : undefined;
  };
  const serverId = one('serverID');
  const count = one('serverCount');
  if (serverId === undefined || count === undefined || !/^\d{1,9}$/.test(count)) {
    return new Fault(
      'not-a-server',
      'the server did not say its serverID and serverCount',
      'check that the address is the agent port of a konnectivity server',
    );
  }
  const version = one(VERSION_KEY);
  return {
    serverId: oneLine(serverId, 512),
    serverCount: Number(count),
    version: version === undefined ? undefined : oneLine(version, 40),
    features: negotiate(one(FEATURES_KEY)),
  };
}
