import type { SecureVersion } from 'node:tls';
import type { TokenPolicy } from '../../proxy/kubernetes/token-verdict.ts';
import type { StrategyName } from '../../proxy/server/selection/strategies.ts';
import type { FrontendListener, TlsFiles } from '../../proxy/server/server-options.ts';
import { bareHost, timerMs } from './flag-checks.ts';
import type { FlagValues } from './flag-definition.ts';
import { tlsCiphers, tlsVersion } from './go-tls-names.ts';
import { parseLabels } from './label-syntax.ts';
import { type LogFlags, logFlags } from './log-options.ts';
import type { serveFlags } from './serve-flags.ts';

/** What `serve` was told to do. */
export interface ServeOptions {
  readonly serverId: string;
  readonly serverCount: number;
  /** One, as upstream has it. */
  readonly frontends: readonly FrontendListener[];
  readonly agents: { readonly host: string; readonly port: number; readonly tls: TlsFiles };
  /** Where drain orders are kept; empty: nowhere. */
  readonly stateDirectory: string;
  /** Whose tokens agents must have; undefined: none is asked for. */
  readonly tokens: TokenPolicy | undefined;
  /** The Kubernetes API, for features that need it. Requests per second and at once; 0: the usual. */
  readonly kube: { readonly kubeconfig: string; readonly perSecond: number; readonly burst: number };
  /** For frontends and agents. */
  readonly tlsMinVersion: SecureVersion;
  /** OpenSSL names for node:tls; undefined for Node's default. */
  readonly tlsCiphers: string | undefined;
  readonly strategies: readonly StrategyName[];
  readonly drainingFallback: 'last-resort' | 'strategy';
  readonly backendChoice: 'random' | 'least-loaded';
  readonly publicStreams: boolean;
  /** HTTP/2 pings; at least a second. */
  readonly keepaliveMs: number;
  readonly frontendKeepaliveMs: number;
  /** 0: no limit. */
  readonly backendDialTimeoutMs: number;
  /** 0: at once. */
  readonly gracefulShutdownTimeoutMs: number;
  readonly halfCloseTimeoutMs: number;
  readonly tunnelBufferBytes: number;
  readonly bufferBudgetBytes: number;
  /** Host empty: all addresses. */
  readonly health: { readonly host: string; readonly port: number };
  readonly admin: { readonly host: string; readonly port: number };
  /** Profiles on the admin port. */
  readonly profiling: boolean;
  readonly adminApi: AdminApiOptions;
  /** What the lease controller writes; undefined: there is none. */
  readonly leases:
    | { readonly namespace: string; readonly labels: Readonly<Record<string, string>> }
    | undefined;
  readonly log: LogFlags;
}

/** Where the admin API is served. */
export interface AdminApiOptions {
  /** `auto`: where commands look; empty: none. */
  readonly socket: string;
  readonly tcp: { readonly host: string; readonly port: number; readonly tls: TlsFiles } | undefined;
  /** Empty: none. */
  readonly auditLog: string;
}

type ServeValues = FlagValues<typeof serveFlags>;

const KEEPALIVE_MIN_MS = 1_000;
/** What gRPC in Go takes for 0. */
const KEEPALIVE_UNSET_MS = 2 * 60 * 60 * 1000;
const BUDGET_MAX_BYTES = 512 * 1024 * 1024;

/** The options that checked values mean. */
export function serveOptions(values: ServeValues, serverId: string, memoryBytes: number): ServeOptions {
  const minVersion = tlsVersion(values['tls-min-version']) ?? 'TLSv1.2';
  return {
    serverId,
    // 0 is upstream's "not known", with which agents keep one stream.
    serverCount: Math.max(1, values['server-count']),
    frontends: [frontend(values)],
    agents: {
      host: bareHost(values['agent-bind-address']),
      port: values['agent-port'],
      tls: tlsFiles(values['cluster-cert'], values['cluster-key'], values['cluster-ca-cert']),
    },
    stateDirectory: values['state-dir'],
    tokens: tokenPolicy(values),
    kube: {
      kubeconfig: values.kubeconfig,
      perSecond: values['kubeconfig-qps'],
      burst: values['kubeconfig-burst'],
    },
    tlsMinVersion: minVersion,
    tlsCiphers: tlsCiphers(values['cipher-suites'], minVersion),
    strategies: [
      ...new Set(values['proxy-strategies'].split(',').map((name) => name.trim() as StrategyName)),
    ],
    drainingFallback: values['draining-fallback'],
    backendChoice: values['backend-choice'],
    publicStreams: values['public-streams'],
    keepaliveMs: keepaliveMs(values['keepalive-time']),
    frontendKeepaliveMs: keepaliveMs(values['frontend-keepalive-time']),
    backendDialTimeoutMs: timerMs(values['backend-dial-timeout']),
    gracefulShutdownTimeoutMs: timerMs(values['graceful-shutdown-timeout']),
    halfCloseTimeoutMs: timerMs(values['half-close-timeout']),
    tunnelBufferBytes: values['tunnel-buffer-bytes'],
    bufferBudgetBytes: values['buffer-budget-bytes'] || bufferBudgetBytes(memoryBytes),
    health: { host: bareHost(values['health-bind-address']), port: values['health-port'] },
    admin: { host: bareHost(values['admin-bind-address']) || '127.0.0.1', port: values['admin-port'] },
    profiling: values['enable-profiling'],
    adminApi: adminApi(values),
    leases: values['enable-lease-controller']
      ? { namespace: values['lease-namespace'], labels: parseLabels(values['lease-label']) }
      : undefined,
    log: logFlags(values),
  };
}

function frontend(values: ServeValues): FrontendListener {
  const mode = values.mode;
  if (values['uds-name'] !== '') {
    const deleteExisting = values['delete-existing-uds-file'];
    return { mode, address: { kind: 'unix', path: values['uds-name'], deleteExisting } };
  }
  const tls = tlsFiles(values['server-cert'], values['server-key'], values['server-ca-cert']);
  const host = bareHost(values['server-bind-address']);
  return { mode, address: { kind: 'tls', host, port: values['server-port'], tls } };
}

function adminApi(values: ServeValues): AdminApiOptions {
  const port = values['admin-grpc-port'];
  const host = bareHost(values['admin-grpc-bind-address']);
  const tls = tlsFiles(values['admin-grpc-cert'], values['admin-grpc-key'], values['admin-grpc-ca-cert']);
  return {
    socket: values['admin-socket'],
    tcp: port === 0 ? undefined : { host, port, tls },
    auditLog: values['audit-log'],
  };
}

function tokenPolicy(values: ServeValues): TokenPolicy | undefined {
  if (values['agent-namespace'] === '') return undefined;
  return {
    namespace: values['agent-namespace'],
    serviceAccount: values['agent-service-account'],
    audience: values['authentication-audience'],
  };
}

function tlsFiles(certFile: string, keyFile: string, caFile: string): TlsFiles {
  return { certFile, keyFile, caFile };
}

function keepaliveMs(ms: number): number {
  return timerMs(ms === 0 ? KEEPALIVE_UNSET_MS : Math.max(ms, KEEPALIVE_MIN_MS));
}

/** What all tunnels of a process may hold by default: a quarter of its memory, at most 512 MiB. */
export function bufferBudgetBytes(memoryBytes: number): number {
  return Math.min(BUDGET_MAX_BYTES, Math.floor(memoryBytes / 4));
}
