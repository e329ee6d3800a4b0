import { type ChannelCredentials, Client, type ClientOptions, credentials } from '@grpc/grpc-js';
import { channelCredentials } from '../../ops/channel-credentials.ts';
import { Fault } from '../../ops/fault.ts';
import { loadClientTls } from '../../ops/tls-files.ts';
import { checkUnixPath } from '../../ops/unix-path.ts';
import { WatchedConnections } from '../../ops/watched-connections.ts';
import type { AdminClient } from './admin-client.ts';
import { GrpcAdminClient } from './grpc-admin-client.ts';

export interface AdminClientOptions {
  /** For host:port: files (PEM), as of --admin-cert, --admin-key and --admin-ca-cert. */
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly caFile?: string;
  /** Who calls, as user@host; servers believe it on their Unix socket only, and mark it as claimed. */
  readonly actor?: string;
  /** How long a call other than a watch may take; default 10,000. */
  readonly timeoutMs?: number;
}

/** A connection that is silent for that long is asked, and given up when it stays silent: a watch may be quiet. */
const KEEPALIVE_MS = 10_000;
const KEEPALIVE_TIMEOUT_MS = 5_000;

/** For the last word of a connection that is closed: a server that went silent takes none. */
const CLOSE_MS = 1_000;

const grpcOptions: ClientOptions = {
  'grpc.enable_channelz': 0,
  'grpc.enable_http_proxy': 0,
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1,
  // Clients of one process would share a connection, and close it for each other.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.per_rpc_retry_buffer_size': 0,
  'grpc.max_receive_message_length': -1,
  'grpc.keepalive_time_ms': KEEPALIVE_MS,
  'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
  'grpc.initial_reconnect_backoff_ms': 200,
  'grpc.max_reconnect_backoff_ms': 2_000,
};

/**
 * A client for the admin API of one server. Connects at the first call, and again when the connection is lost.
 * @param address `unix:///path` or `host:port`; the latter needs all three files
 * @throws Fault for an address or files that cannot work
 */
export function openAdminClient(address: string, options: AdminClientOptions = {}): AdminClient {
  let lastError: unknown;
  const [target, secrets, more] = openTarget(address, options, (error) => {
    lastError = error;
  });
  const connections = new WatchedConnections(secrets);
  const client = new Client(target, connections.credentials, { ...grpcOptions, ...more });
  return new GrpcAdminClient(client, {
    address,
    actor: options.actor ?? '',
    timeoutMs: options.timeoutMs ?? 10_000,
    takeConnectionError: () => {
      const error = lastError;
      lastError = undefined;
      return error;
    },
    release: () => {
      client.close();
      connections.endWithin(CLOSE_MS);
    },
  });
}

function openTarget(
  address: string,
  options: AdminClientOptions,
  onError: (error: unknown) => void,
): [target: string, ChannelCredentials, ClientOptions] {
  if (address.startsWith('unix:')) {
    const path = address.slice('unix:'.length).replace(/^\/\/(?=\/)/, '');
    checkUnixPath(path, 'the admin socket');
    return [`unix:${path}`, credentials.createInsecure(), { 'grpc.default_authority': 'localhost' }];
  }
  const match = /^(?:\[([^\]]+)\]|([^:[\]/]+)):(\d{1,5})$/.exec(address);
  const port = Number(match?.[3]);
  if (match === null || port < 1 || port > 65_535) {
    throw new Fault(
      'admin-bad-address',
      `"${address}" is no address of an admin service`,
      'give unix:///path/to/admin.sock or HOST:PORT',
    );
  }
  const { certFile = '', keyFile = '', caFile = '' } = options;
  if (certFile === '') {
    throw new Fault(
      'cert-missing',
      `the admin service at ${address} asks for a client certificate, and --admin-cert is empty`,
      'give --admin-cert, --admin-key and --admin-ca-cert, or the unix:// address of a server on this machine',
    );
  }
  const labels = { cert: '--admin-cert', key: '--admin-key', ca: '--admin-ca-cert' };
  const tls = loadClientTls({ certFile, keyFile, caFile, labels });
  return [address, channelCredentials(() => tls, { onError }), {}];
}
