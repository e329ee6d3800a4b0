import type { ServerCountSource } from '../../proxy/agent/server-count.ts';
import { IdentifierError, parseIdentifiersStrictly } from '../../proxy/wire/identifiers.ts';
import { agentFlags } from './agent-flags.ts';
import { bareHost, FlagChecks, timerMs } from './flag-checks.ts';
import type { FlagValues } from './flag-definition.ts';
import type { FlagEnvironment } from './flag-environment.ts';
import { formatFlagHelp } from './flag-help.ts';
import { FlagRefusals } from './flag-refusals.ts';
import { foreignFlags } from './foreign-flags.ts';
import { formatDuration } from './go-duration.ts';
import { parseGoFlags } from './go-flags.ts';
import { selectorProblem } from './label-syntax.ts';
import { checkLeaseNamespace } from './lease-checks.ts';
import { checkLog, type LogFlags, logFlags } from './log-options.ts';
import { meaninglessFlags } from './meaningless-flags.ts';
import { memoryWarnings } from './memory-warning.ts';
import { checkPeerId } from './peer-id.ts';
import { serveFlags } from './serve-flags.ts';

/** What `agent` was told to do. */
export interface AgentOptions {
  readonly agentId: string;
  /** The URL-encoded query as it was written, checked; empty for none. */
  readonly identifiers: string;
  readonly server: {
    readonly host: string;
    readonly port: number;
    /** Certificate and key may be empty. */
    readonly tls: { readonly certFile: string; readonly keyFile: string; readonly caFile: string };
    /** Offered beside h2. */
    readonly alpn: readonly string[];
    /** File with the token to send; empty for none. */
    readonly tokenFile: string;
    /** HTTP/2 pings; at least 10 seconds, as gRPC in Go has it. */
    readonly keepaliveMs: number;
  };
  readonly syncIntervalMs: number;
  readonly syncIntervalCapMs: number;
  readonly syncForever: boolean;
  /** How the Leases of servers are counted; undefined: they are not. */
  readonly leases:
    | { readonly namespace: string; readonly selector: string; readonly source: ServerCountSource }
    | undefined;
  /** Empty: that of the Pod. */
  readonly kubeconfig: string;
  /** 0: no limit. */
  readonly drainTimeoutMs: number;
  readonly halfCloseTimeoutMs: number;
  readonly publicStreams: boolean;
  /** Host empty: all addresses. */
  readonly health: { readonly host: string; readonly port: number };
  readonly admin: { readonly host: string; readonly port: number };
  /** Profiles on the admin port. */
  readonly profiling: boolean;
  readonly log: LogFlags;
}

export type AgentRequest =
  | { readonly kind: 'help'; readonly text: string }
  | {
      readonly kind: 'run';
      readonly options: AgentOptions;
      /** For the log at V(1). */
      readonly notes: readonly string[];
      readonly warnings: readonly string[];
    };

type AgentValues = FlagValues<typeof agentFlags>;

/** Below it, one warning at the start. */
const MEMORY_MIB = 128;
const KEEPALIVE_MIN_MS = 10_000;
/** A shorter interval is a busy loop. */
const SYNC_MIN_MS = 10;

/** Reads the arguments of `konnectivity-ts agent`. Throws FlagRefusals, with everything that is wrong. */
export function parseAgent(argv: readonly string[], environment: FlagEnvironment): AgentRequest {
  const { values, given, help, refusals } = parseGoFlags(agentFlags, argv, {
    command: 'konnectivity-ts agent',
    foreign: foreignFlags.agent,
    sibling: { command: 'konnectivity-ts serve', table: serveFlags },
  });
  if (help) return { kind: 'help', text: formatFlagHelp('konnectivity-ts agent', agentFlags) };
  if (refusals.length > 0) throw new FlagRefusals(refusals);
  const agentId = values['agent-id'] || environment.env.PROXY_AGENT_ID || environment.newId();
  const checks = new FlagChecks(values);
  checkServer(checks, values);
  checkSync(checks, values);
  checkIdentifiers(checks, values['agent-identifiers']);
  checkSelector(checks, 'lease-label-selector', values['lease-label-selector']);
  checkSelector(checks, 'lease-label', values['lease-label']);
  checkOldSelector(checks, values, given);
  if (values['count-server-leases']) checkLeaseNamespace(checks, values['lease-namespace']);
  checkPeerId(checks, 'agent-id', 'PROXY_AGENT_ID', agentId);
  checks.notNegative('drain-timeout', 'keepalive-time', 'probe-interval');
  checks.positive('half-close-timeout');
  checks.positive('xfr-channel-size');
  checkLog(checks, values);
  checks.contentionProfiling();
  checks.files(agentFlags, environment);
  if (checks.refusals.length > 0) throw new FlagRefusals(checks.refusals);
  return {
    kind: 'run',
    options: agentOptions(values, agentId),
    notes: meaninglessFlags(agentFlags, given),
    warnings: [
      ...memoryWarnings(environment.memoryBytes, environment.heapLimitBytes, MEMORY_MIB),
      ...agentWarnings(values),
    ],
  };
}

function checkServer(checks: FlagChecks, values: AgentValues): void {
  if (!checks.has('ca-cert')) {
    const message = '--ca-cert is empty, and without it no server can be trusted';
    checks.refuse('ca-missing', message, 'give the CA that signs the certificates of the servers');
  }
  checks.pair('agent-cert', 'agent-key');
  if (!checks.has('proxy-server-host')) {
    checks.refuse(
      'flag-value',
      '--proxy-server-host is empty',
      'give the name or address of the proxy servers',
    );
  }
  for (const name of values['alpn-proto']) {
    if (/^[\x21-\x7e]{1,255}$/.test(name)) continue;
    checks.refuse(
      'flag-value',
      `--alpn-proto has ${JSON.stringify(name)}, which names no protocol`,
      'give names such as konnectivity',
    );
  }
  checks.portBetween('proxy-server-port', 1, 65535);
  checks.portBetween('health-server-port', 1, 65535);
  checks.portBetween('admin-server-port', 1, 65535);
}

function checkSync(checks: FlagChecks, values: AgentValues): void {
  checks.notNegative('sync-interval', 'sync-interval-cap');
  if (values['sync-interval'] <= values['sync-interval-cap']) return;
  const [interval, cap] = [values['sync-interval'], values['sync-interval-cap']].map(formatDuration);
  const message = `--sync-interval=${interval} is above --sync-interval-cap=${cap}`;
  checks.refuse('flag-conflict', message, 'raise --sync-interval-cap or lower --sync-interval');
}

function checkIdentifiers(checks: FlagChecks, text: string): void {
  try {
    parseIdentifiersStrictly(text);
  } catch (error) {
    if (!(error instanceof IdentifierError)) throw error;
    const remedy = 'write a URL-encoded query such as host=node-a&ipv4=10.0.0.1';
    checks.refuse('flag-identifiers', `${checks.shown('agent-identifiers')}: ${error.message}`, remedy);
  }
}

function checkSelector(checks: FlagChecks, name: string, text: string): void {
  const problem = selectorProblem(text);
  if (problem === undefined) return;
  checks.refuse(
    'flag-label',
    `${checks.shown(name)} ${problem}`,
    'write a label selector such as key=value,!other',
  );
}

/** The old name of the flag, given together with the new one, must say the same. */
function checkOldSelector(checks: FlagChecks, values: AgentValues, given: ReadonlySet<string>): void {
  if (!given.has('lease-label') || !given.has('lease-label-selector')) return;
  if (values['lease-label'] === values['lease-label-selector']) return;
  const message = `${checks.shown('lease-label')} is given together with ${checks.shown('lease-label-selector')}`;
  checks.refuse('flag-conflict', message, 'remove --lease-label, the old name of the same flag');
}

function agentWarnings(values: AgentValues): string[] {
  if (values['sync-interval'] >= SYNC_MIN_MS) return [];
  return [
    `--sync-interval=${formatDuration(values['sync-interval'])} is too short: ${SYNC_MIN_MS} ms are used`,
  ];
}

function agentOptions(values: AgentValues, agentId: string): AgentOptions {
  const syncIntervalMs = timerMs(Math.max(values['sync-interval'], SYNC_MIN_MS));
  return {
    agentId,
    identifiers: values['agent-identifiers'],
    server: {
      host: bareHost(values['proxy-server-host']),
      port: values['proxy-server-port'],
      tls: { certFile: values['agent-cert'], keyFile: values['agent-key'], caFile: values['ca-cert'] },
      alpn: values['alpn-proto'].filter((name) => name !== 'h2'),
      tokenFile: values['service-account-token-path'],
      keepaliveMs: timerMs(Math.max(values['keepalive-time'], KEEPALIVE_MIN_MS)),
    },
    syncIntervalMs,
    syncIntervalCapMs: timerMs(Math.max(values['sync-interval-cap'], syncIntervalMs)),
    syncForever: values['sync-forever'],
    leases: values['count-server-leases']
      ? {
          namespace: values['lease-namespace'],
          selector: values['lease-label'] || values['lease-label-selector'],
          source: values['server-count-source'],
        }
      : undefined,
    kubeconfig: values.kubeconfig,
    drainTimeoutMs: timerMs(values['drain-timeout']),
    halfCloseTimeoutMs: timerMs(values['half-close-timeout']),
    publicStreams: values['public-streams'],
    health: { host: bareHost(values['health-server-host']), port: values['health-server-port'] },
    admin: { host: bareHost(values['admin-bind-address']) || '127.0.0.1', port: values['admin-server-port'] },
    profiling: values['enable-profiling'],
    log: logFlags(values),
  };
}
