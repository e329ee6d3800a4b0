import { Metadata, type ServerDuplexStream, status } from '@grpc/grpc-js';
import { oneLine } from '../ops/fault.ts';
import type { Log } from '../ops/log.ts';
import { RepeatedLine } from '../ops/repeated-line.ts';
import {
  FEATURES_KEY,
  featureList,
  INSTANCE_KEY,
  negotiate,
  parseInstance,
  VERSION_KEY,
} from '../wire/extension.ts';
import { parseIdentifiers } from '../wire/identifiers.ts';
import type { PacketStream } from '../wire/packet-stream.ts';
import { Admission } from './admission.ts';
import type { AgentAuthenticator } from './agent-authenticator.ts';
import type { BackendIdentity } from './backend.ts';
import type { Backends } from './backends.ts';

/** The longest agent ID that is taken, in characters: a UUID, or a node's name, with room. */
const MAX_AGENT_ID = 512;

/** What the Connect handler needs. */
export interface AgentServiceOptions {
  readonly serverId: string;
  readonly serverCount: number;
  readonly version: string;
  readonly backends: Backends;
  readonly log: Log;
  /** Undefined: whoever got through TLS is an agent. */
  readonly authenticator: AgentAuthenticator | undefined;
  /** Agents that wait for the verdict on them. */
  readonly mostWaiting?: number;
  accepting(): boolean;
  openStream(call: ServerDuplexStream<Buffer, Buffer>): PacketStream;
}

/** Handles `AgentService/Connect`: checks who comes, answers who we are, and hands the stream to the backends. */
export function agentService(
  options: AgentServiceOptions,
): (call: ServerDuplexStream<Buffer, Buffer>) => void {
  const admission =
    options.authenticator === undefined
      ? undefined
      : new Admission(options.authenticator, options.log, options.mostWaiting);
  const refused = new RepeatedLine(options.log);
  return (call) => {
    const refusal = options.accepting() ? checkMetadata(call.metadata) : 'the server is shutting down';
    if (refusal !== undefined) {
      const code = options.accepting() ? status.INVALID_ARGUMENT : status.UNAVAILABLE;
      refused.warn(refusal.replace(/\d+/g, ''), 'Refused an agent', {
        remote: call.getPeer(),
        reason: refusal,
      });
      call.emit('error', { code, details: refusal });
      return;
    }
    if (admission === undefined) admit(options, call);
    else void admission.check(call, () => admit(options, call));
  };
}

function admit(options: AgentServiceOptions, call: ServerDuplexStream<Buffer, Buffer>): void {
  // It lives as long as the call, and the token is up to 16 KiB that nobody needs again.
  call.metadata.remove('authorization');
  if (!options.accepting()) {
    call.emit('error', { code: status.UNAVAILABLE, details: 'the server is shutting down' });
    return;
  }
  const headers = new Metadata();
  headers.set('serverID', options.serverId);
  headers.set('serverCount', String(options.serverCount));
  headers.set(VERSION_KEY, options.version);
  headers.set(FEATURES_KEY, featureList);
  call.sendMetadata(headers);
  options.backends.add(identify(call), options.openStream(call));
}

function checkMetadata(metadata: Metadata): string | undefined {
  const ids = metadata.get('agentID');
  if (ids.length !== 1 || ids[0] === '')
    return `expected exactly one agentID in the metadata, got ${ids.length}`;
  if (String(ids[0]).length > MAX_AGENT_ID) return `agentID is longer than ${MAX_AGENT_ID} characters`;
  const identifiers = metadata.get('agentIdentifiers');
  if (identifiers.length > 1)
    return `expected at most one agentIdentifiers in the metadata, got ${identifiers.length}`;
  return undefined;
}

function identify(call: ServerDuplexStream<Buffer, Buffer>): BackendIdentity {
  const one = (key: string): string | undefined => {
    const value = call.metadata.get(key)[0];
    return value === undefined ? undefined : String(value);
  };
  const version = one(VERSION_KEY);
  return {
    agentId: one('agentID') as string,
    identifiers: parseIdentifiers(one('agentIdentifiers') ?? ''),
    instance: parseInstance(one(INSTANCE_KEY)),
    version: version === undefined ? undefined : oneLine(version, 40),
    features: negotiate(one(FEATURES_KEY)),
    remote: call.getPeer(),
    connectedAtMs: Date.now(),
  };
}
