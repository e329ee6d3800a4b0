import {
  accepted,
  bool,
  choice,
  duration,
  file,
  inGroup,
  int,
  number,
  ours,
  string,
  strings,
} from './define-flag.ts';
import type { FlagTable } from './flag-definition.ts';
import { klogFlags } from './klog-flags.ts';

const channels = accepted('buffers are bounded in bytes, see --tunnel-buffer-bytes');

/** Every flag of `konnectivity-ts serve`. */
export const serveFlags = {
  ...inGroup('Frontend (kube-apiserver)', {
    mode: choice(['grpc', 'http-connect'], 'grpc', 'protocol of the frontend'),
    'uds-name': string('', 'path of the Unix socket to listen on; empty for TCP'),
    'delete-existing-uds-file': bool(
      true,
      'replace a socket that is left at uds-name and on which nobody listens',
    ),
    'server-port': int(8090, 'TCP port for kube-apiserver; must be 0 with uds-name'),
    'server-bind-address': string('', 'address to listen on for kube-apiserver; empty for all'),
    'server-cert': file('certificate (PEM) shown to kube-apiserver'),
    'server-key': file('private key (PEM) of server-cert'),
    'server-ca-cert': file('CA certificates (PEM) that sign the client certificates of kube-apiserver'),
    'frontend-keepalive-time': duration(
      '1h',
      'HTTP/2 ping to kube-apiserver after this time without traffic',
    ),
  }),
  ...inGroup('Agents', {
    'agent-port': int(8091, 'TCP port for agents'),
    'agent-bind-address': string('', 'address to listen on for agents; empty for all'),
    'cluster-cert': file('certificate (PEM) shown to agents'),
    'cluster-key': file('private key (PEM) of cluster-cert'),
    'cluster-ca-cert': file(
      'CA certificates (PEM) that sign the client certificates of agents; empty: none is asked for',
    ),
    'keepalive-time': duration('1h', 'HTTP/2 ping to an agent after this time without traffic'),
    'server-id': string(
      '',
      'unique ID of this server; empty: PROXY_SERVER_ID of the environment, else a new UUID',
    ),
    'server-count': int(1, 'number of servers that agents must be connected to'),
  }),
  ...inGroup('TLS of both sides', {
    'cipher-suites': strings('Go names of the cipher suites for TLS 1.2 and below; empty for the usual ones'),
    'tls-min-version': string(
      '',
      'VersionTLS10, VersionTLS11, VersionTLS12 or VersionTLS13; empty for VersionTLS12',
    ),
  }),
  ...inGroup('Choice of an agent', {
    'proxy-strategies': string('default', 'list of default, destHost and defaultRoute, tried in this order'),
    'draining-fallback': {
      ...choice(
        ['last-resort', 'strategy'],
        'last-resort',
        'when a draining agent is chosen: after the ready ones of all strategies, or of its own strategy',
      ),
      ...ours,
    },
    'backend-choice': {
      ...choice(
        ['random', 'least-loaded'],
        'random',
        'choice among equals: one at random, or the better of two',
      ),
      ...ours,
    },
  }),
  ...inGroup('Dials and tunnels', {
    'backend-dial-timeout': {
      ...duration('20s', 'time for an agent to answer a dial, a second attempt included; 0 for no limit'),
      upstreamDefault: '0s',
    },
    'graceful-shutdown-timeout': duration(
      '0s',
      'at a stop signal, time for open tunnels to end while new dials are refused; 0 ends them at once',
    ),
    'half-close-timeout': {
      ...duration(
        '60s',
        'after a client ended its sending, time in which the node neither sends nor takes a byte before the tunnel ends',
      ),
      ...ours,
    },
    'tunnel-buffer-bytes': {
      ...int(16 * 1024 * 1024, 'bytes that one tunnel may hold for a reader that does not keep up'),
      ...ours,
    },
    'buffer-budget-bytes': {
      ...int(0, 'bytes that all tunnels together may hold; 0 for a quarter of the memory, at most 512 MiB'),
      ...ours,
    },
    'public-streams': {
      ...bool(false, 'use only the public interface of grpc-js for streams (slower)'),
      ...ours,
    },
    'xfr-channel-size': { ...int(10, 'packets in a channel between goroutines'), ...channels },
    'frontend-write-channel-size': { ...int(10, 'packets held for a CONNECT frontend'), ...channels },
    'warn-on-channel-limit': {
      ...bool(true, 'warn when a channel is full (deprecated upstream)'),
      ...accepted('upstream took its meaning away, too'),
    },
  }),
  ...inGroup('Health, metrics and admin', {
    'health-port': int(8092, 'TCP port of /healthz, /readyz and /metrics'),
    'health-bind-address': string('', 'address of the health port; empty for all'),
    'admin-port': int(8095, 'TCP port of /metrics for administrators'),
    'admin-bind-address': string('127.0.0.1', 'address of the admin port; empty for this machine only'),
    'enable-profiling': bool(
      false,
      'serve CPU and heap profiles on the admin port, under /debug/pprof/ (formats of Chrome, not of Go)',
    ),
    'enable-contention-profiling': {
      ...bool(false, 'profile lock contention; needs enable-profiling'),
      ...accepted('there are no locks here'),
    },
  }),
  ...inGroup('Drain orders', {
    'state-dir': {
      ...string(
        '',
        'directory of this server alone in which drain orders survive its restart; empty: they do not survive',
      ),
      ...ours,
    },
  }),
  ...inGroup('Admin API (konnectivity-ts top, agents, drain, ...)', {
    'admin-socket': {
      ...string('auto', 'path of the Unix socket of the admin API; auto: where commands look; empty: none'),
      ...ours,
    },
    'admin-grpc-port': {
      ...int(0, 'TCP port of the admin API, with TLS on both sides; 0 for none'),
      ...ours,
    },
    'admin-grpc-bind-address': {
      ...string('', 'address to listen on for the admin API; empty for all'),
      ...ours,
    },
    'admin-grpc-cert': { ...file('certificate (PEM) shown to clients of the admin API'), ...ours },
    'admin-grpc-key': { ...file('private key (PEM) of admin-grpc-cert'), ...ours },
    'admin-grpc-ca-cert': {
      ...file('CA certificates (PEM) that sign the client certificates of operators and viewers'),
      ...ours,
    },
    'audit-log': {
      ...string('', 'file to which each change by the admin API is appended as a line of JSON'),
      ...ours,
    },
  }),
  ...inGroup('Token authentication of agents', {
    'agent-namespace': string(
      '',
      'namespace of the service account of agents; with it, agents must send a token (TokenReview)',
    ),
    'agent-service-account': string('', 'name of the service account of agents'),
    'authentication-audience': string('', 'audience that the tokens of agents must have'),
  }),
  ...inGroup('Leases', {
    'enable-lease-controller': bool(false, 'publish this server as a Lease and remove expired ones'),
    'lease-namespace': string('kube-system', 'namespace of the Leases'),
    'lease-label': string('k8s-app=konnectivity-server', 'labels of the Leases, as key=value,...'),
  }),
  ...inGroup('Kubernetes API', {
    kubeconfig: file('kubeconfig for the Kubernetes API; empty for the service account of the Pod'),
    'kubeconfig-qps': number(0, 'requests per second to the Kubernetes API; 0 for 5, negative for no limit'),
    'kubeconfig-burst': int(0, 'requests to the Kubernetes API at once; 0 for 10'),
    'kube-api-content-type': {
      ...string('application/vnd.kubernetes.protobuf', 'encoding of requests to the Kubernetes API'),
      ...accepted('requests to the Kubernetes API are made in JSON'),
    },
  }),
  ...klogFlags,
} as const satisfies FlagTable;
