import {
  accepted,
  bool,
  choice,
  duration,
  file,
  inGroup,
  int,
  ours,
  string,
  strings,
} from './define-flag.ts';
import type { FlagTable } from './flag-definition.ts';
import { klogFlags } from './klog-flags.ts';

const channels = accepted('buffers are bounded in bytes, by flow control');

/** Every flag of `konnectivity-ts agent`. */
export const agentFlags = {
  ...inGroup('Server', {
    'proxy-server-host': string(
      '127.0.0.1',
      'name or address of the proxy servers, or of the balancer before them',
    ),
    'proxy-server-port': int(8091, 'TCP port on which the proxy servers listen for agents'),
    'ca-cert': file('CA certificates (PEM) that sign the certificates of the servers; required'),
    'agent-cert': file('certificate (PEM) shown to the servers; empty for none'),
    'agent-key': file('private key (PEM) of agent-cert'),
    'service-account-token-path': file(
      'file with the service account token that is sent to the servers; read again for every attempt to connect',
    ),
    'alpn-proto': strings(
      'TLS application protocols that are offered beside h2, for balancers that route by them',
    ),
    'keepalive-time': duration('1h', 'HTTP/2 ping to a server after this time without traffic'),
  }),
  ...inGroup('Identity', {
    'agent-id': string(
      '',
      'unique ID of this agent; empty: PROXY_AGENT_ID of the environment, else a new UUID',
    ),
    'agent-identifiers': string(
      '',
      'what this agent serves, as a URL-encoded query of ipv4, ipv6, host, cidr and default-route (host=a&ipv4=10.0.0.1)',
    ),
  }),
  ...inGroup('Connections to the servers', {
    'sync-interval': duration('1s', 'time between looks at whether a server is missing'),
    'sync-interval-cap': duration('10s', 'longest time between attempts that fail; not below sync-interval'),
    'sync-forever': bool(
      false,
      'look for further servers even when as many are connected as there should be',
    ),
    'probe-interval': {
      ...duration('1s', 'time between looks at the state of connections'),
      ...accepted('a connection that ends is noticed at once, without looking'),
    },
  }),
  ...inGroup('Draining and tunnels', {
    'drain-timeout': {
      ...duration(
        '0s',
        'after a stop signal, time until the rest of the tunnels is closed with drain-deadline; 0 for no limit',
      ),
      ...ours,
    },
    'half-close-timeout': {
      ...duration(
        '60s',
        'after one side ended its sending, time without a byte from the other before the tunnel ends',
      ),
      ...accepted('the server ends tunnels that stay half-closed'),
      ...ours,
    },
    'public-streams': {
      ...bool(false, 'use only the public interface of grpc-js for streams (slower)'),
      ...ours,
    },
    'xfr-channel-size': { ...int(150, 'packets in a channel between goroutines'), ...channels },
    'warn-on-channel-limit': { ...bool(false, 'warn when a channel is full'), ...channels },
  }),
  ...inGroup('Health, metrics and admin', {
    'health-server-port': int(8093, 'TCP port of /healthz, /readyz and /metrics'),
    'health-server-host': string('', 'address of the health port; empty for all'),
    'admin-server-port': int(8094, 'TCP port for administrators'),
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
  ...inGroup('Number of servers from Leases', {
    'count-server-leases': bool(false, 'count the Leases of servers to know how many there are'),
    'server-count-source': choice(
      ['default', 'max'],
      'default',
      'with Leases: their number alone, or the larger of it and what servers say',
    ),
    'lease-namespace': string('kube-system', 'namespace of the Leases'),
    'lease-label-selector': string('k8s-app=konnectivity-server', 'label selector of the Leases'),
    'lease-label': { ...string('', 'old name of lease-label-selector'), hidden: true },
  }),
  ...inGroup('Kubernetes API', {
    kubeconfig: file('kubeconfig for the Kubernetes API (Leases); empty for that of the Pod'),
    'kube-api-content-type': {
      ...string('application/vnd.kubernetes.protobuf', 'encoding of requests to the Kubernetes API'),
      ...accepted('requests to the Kubernetes API are made in JSON'),
    },
  }),
  ...klogFlags,
} as const satisfies FlagTable;
