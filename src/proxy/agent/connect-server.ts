import { isIPv6 } from 'node:net';
import { type ChannelCredentials, Client, Metadata } from '@grpc/grpc-js';
import { Fault } from '../ops/fault.ts';
import { WatchedConnections } from '../ops/watched-connections.ts';
import { clientOptions, LINK_HTTP2_WINDOW_BYTES } from '../wire/client-options.ts';
import { openPacketStream } from '../wire/client-stream.ts';
import { FEATURES_KEY, featureList, INSTANCE_KEY, VERSION_KEY } from '../wire/extension.ts';
import { UNAVAILABLE } from '../wire/handled-stream.ts';
import type { PacketStream } from '../wire/packet-stream.ts';
import { RpcError } from '../wire/rpc-error.ts';
import { CONNECT_PATH } from '../wire/services.ts';
import type { StreamCounts } from '../wire/stream-counts.ts';
import { readIdentity, type ServerIdentity } from './server-identity.ts';
import type { ServerLink } from './server-link.ts';
import { serverRefusal } from './server-refusal.ts';

/** Sources are paused above this: lower, and a bulk tunnel is stopped and started with nearly every chunk. */
const HIGH_WATER_BYTES = 512 * 1024;
/** For the last bytes of a connection whose stream is over. One that went silent takes none. */
const CLOSE_MS = 1_000;

/** Where and as whom an agent connects. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  /** Made anew for every attempt, so that replaced certificates are used. */
  credentials(): ChannelCredentials;
  readonly agentId: string;
  readonly identifiers: string;
  readonly version: string;
  /** Random, one per process run. */
  readonly instance: string;
  /** The service account token for `Authorization: Bearer`, read anew for every attempt; undefined: none is sent. */
  token(): Promise<string | undefined>;
  readonly publicStreams: boolean;
  readonly keepaliveMs: number;
  readonly timeoutMs: number;
  /** Where packets and errors of the streams are counted. */
  readonly counts?: StreamCounts;
  /** Translates the words of a failed connection; the border to TLS and sockets. */
  translate(error: RpcError, server: string): Fault;
}

/** Streams of the public implementation cannot ping: HTTP/2 keepalive does, as often as Go servers allow. */
const GO_PING_MS = 35_000;

/**
 * Makes the link in the step in which the stream's packets begin to flow.
 * @param release closes the connection; called by the link when its stream ended
 */
export type MakeLink = (server: ServerIdentity, stream: PacketStream, release: () => void) => ServerLink;

/**
 * Connects once, on a connection of its own, so that a balancer can lead elsewhere each time.
 * @throws Fault with the reason in words
 */
export async function connectServer(
  server: ServerAddress,
  makeLink: MakeLink,
  signal: AbortSignal,
): Promise<ServerLink> {
  const target = `${isIPv6(server.host) ? `[${server.host}]` : server.host}:${server.port}`;
  const metadata = await requestMetadata(server);
  const credentials = server.credentials();
  if (metadata.get('authorization').length > 0 && !credentials._isSecure()) {
    throw new Fault('token-without-tls', 'the service account token is sent over TLS only');
  }
  const connections = new WatchedConnections(credentials);
  const client = new Client(target, connections.credentials, {
    ...clientOptions({
      // What a server of ours has under way LinkPace bounds; a Go server reads whatever it writes.
      windowBytes: LINK_HTTP2_WINDOW_BYTES,
      keepaliveTimeMs: server.publicStreams ? Math.min(server.keepaliveMs, GO_PING_MS) : server.keepaliveMs,
    }),
  });
  const release = (): void => {
    client.close();
    connections.endWithin(CLOSE_MS);
  };
  const attempt = AbortSignal.any([signal, AbortSignal.timeout(server.timeoutMs)]);
  try {
    const opened = await openPacketStream(client, CONNECT_PATH, metadata, {
      publicOnly: server.publicStreams,
      highWaterMarkBytes: HIGH_WATER_BYTES,
      signal: attempt,
      ...(server.counts === undefined ? {} : { counts: server.counts }),
    });
    const identity = readIdentity(opened.metadata);
    if (identity instanceof Fault) {
      opened.stream.abort(3, identity.message);
      throw identity;
    }
    return makeLink(identity, opened.stream, release);
  } catch (error) {
    release();
    if (error instanceof Fault) throw error;
    if (attempt.aborted && !signal.aborted) {
      throw new Fault(
        'server-timeout',
        `server ${target} gave no answer within ${server.timeoutMs / 1000} s`,
      );
    }
    if (!(error instanceof RpcError)) throw error;
    // Of a connection that does not come to be, grpc-js says UNAVAILABLE, which a server may say, too.
    throw error.code === UNAVAILABLE && !error.fromServer
      ? server.translate(error, target)
      : serverRefusal(target, error.code, error.details);
  }
}

async function requestMetadata(server: ServerAddress): Promise<Metadata> {
  const metadata = new Metadata();
  metadata.set('agentID', server.agentId);
  if (server.identifiers !== '') metadata.set('agentIdentifiers', server.identifiers);
  metadata.set(VERSION_KEY, server.version);
  metadata.set(FEATURES_KEY, featureList);
  metadata.set(INSTANCE_KEY, server.instance);
  const token = await server.token();
  if (token !== undefined) metadata.set('authorization', `Bearer ${checkedToken(token)}`);
  return metadata;
}

/** An error of grpc-js about a bad header would print it. */
function checkedToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new Fault(
    'token-malformed',
    'the service account token is empty, or has characters that cannot be sent',
    'check the file of --service-account-token-path',
  );
}
