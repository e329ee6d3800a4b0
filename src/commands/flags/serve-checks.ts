import { checkUnixPath } from '../../proxy/ops/unix-path.ts';
import { STRATEGY_NAMES } from '../../proxy/server/selection/strategies.ts';
import type { FlagChecks } from './flag-checks.ts';
import type { FlagValues } from './flag-definition.ts';
import { CIPHER_SUITE_NAMES, TLS_VERSION_NAMES, tlsVersion } from './go-tls-names.ts';
import { labelsProblem } from './label-syntax.ts';
import type { serveFlags } from './serve-flags.ts';

type ServeValues = FlagValues<typeof serveFlags>;

/** One DATA packet must fit. */
const BUFFER_MIN_BYTES = 64 * 1024;
/** Neither reserved nor ephemeral. */
const PORTS = [1024, 49151] as const;

/** The rules that concern `serve` alone. */
export function checkServe(checks: FlagChecks, values: ServeValues): void {
  checkFrontend(checks, values);
  checkAgents(checks);
  checkAdminApi(checks, values);
  checkTls(checks, values);
  checkTokens(checks, values);
  checkStrategies(checks, values['proxy-strategies']);
  checkNumbers(checks, values);
  checkLabels(checks, values['lease-label']);
}

function checkFrontend(checks: FlagChecks, values: ServeValues): void {
  if (values['uds-name'] === '') {
    checks.portBetween('server-port', ...PORTS);
    if (!checks.has('server-cert') && !checks.has('server-key')) {
      const message = '--server-cert and --server-key are empty, and a TCP frontend needs them';
      checks.refuse('cert-missing', message, 'give both, or --uds-name and --server-port=0');
    }
    if (!checks.has('server-ca-cert')) {
      const message = '--server-ca-cert is empty, and a TCP frontend needs it to know kube-apiserver';
      checks.refuse('ca-missing', message, 'give it, or --uds-name and --server-port=0');
    }
  } else {
    checks.attempt(() => checkUnixPath(values['uds-name'], '--uds-name'));
    const together = `is given together with ${checks.shown('uds-name')}`;
    if (values['server-port'] !== 0) {
      const remedy = 'add --server-port=0 for the Unix socket, or remove --uds-name for TCP';
      checks.refuse('flag-conflict', `${checks.shown('server-port')} ${together}`, remedy);
    }
    for (const name of ['server-cert', 'server-key', 'server-ca-cert'] as const) {
      if (!checks.has(name)) continue;
      const remedy = `remove --${name}: a Unix socket has no TLS`;
      checks.refuse('flag-conflict', `${checks.shown(name)} ${together}`, remedy);
    }
  }
  checks.pair('server-cert', 'server-key');
}

function checkAgents(checks: FlagChecks): void {
  if (!checks.has('cluster-cert') && !checks.has('cluster-key')) {
    const message =
      '--cluster-cert and --cluster-key are empty, and agents need a server that shows who it is';
    checks.refuse('cert-missing', message, 'give both');
  }
  checks.pair('cluster-cert', 'cluster-key');
  checks.portBetween('agent-port', ...PORTS);
  checks.portBetween('admin-port', ...PORTS);
  checks.portBetween('health-port', ...PORTS);
}

function checkAdminApi(checks: FlagChecks, values: ServeValues): void {
  const socket = values['admin-socket'];
  if (socket !== '' && socket !== 'auto') checks.attempt(() => checkUnixPath(socket, '--admin-socket'));
  const files = ['admin-grpc-cert', 'admin-grpc-key', 'admin-grpc-ca-cert'] as const;
  if (values['admin-grpc-port'] !== 0) {
    checks.portBetween('admin-grpc-port', ...PORTS);
    for (const name of files) {
      if (checks.has(name)) continue;
      checks.refuse(
        name === 'admin-grpc-ca-cert' ? 'ca-missing' : 'cert-missing',
        `--${name} is empty while ${checks.shown('admin-grpc-port')} is given`,
        'give all three of --admin-grpc-cert, --admin-grpc-key and --admin-grpc-ca-cert',
      );
    }
    return;
  }
  for (const name of files) {
    if (!checks.has(name)) continue;
    const remedy = `give --admin-grpc-port as well, or remove --${name}`;
    checks.refuse('flag-conflict', `${checks.shown(name)} is given without --admin-grpc-port`, remedy);
  }
  if (socket !== '' || !checks.has('audit-log')) return;
  // Who asks for an audit log relies on it.
  const message = `${checks.shown('audit-log')} is given while the admin API is turned off`;
  const remedy = 'give --admin-socket or --admin-grpc-port, or remove --audit-log';
  checks.refuse('flag-conflict', message, remedy);
}

function checkTls(checks: FlagChecks, values: ServeValues): void {
  if (tlsVersion(values['tls-min-version']) === undefined) {
    const message = `${checks.shown('tls-min-version')} is an unknown TLS version`;
    checks.refuse('flag-tls', message, `give one of ${TLS_VERSION_NAMES.join(', ')}`);
  }
  for (const suite of values['cipher-suites']) {
    if (CIPHER_SUITE_NAMES.includes(suite)) continue;
    const message = `--cipher-suites=${suite} is an unknown or insecure cipher suite`;
    checks.refuse('flag-tls', message, `the suites are ${CIPHER_SUITE_NAMES.slice(0, -3).join(', ')}`);
  }
}

/** Any one set needs all. */
function checkTokens(checks: FlagChecks, values: ServeValues): void {
  const names = ['agent-namespace', 'agent-service-account', 'authentication-audience'] as const;
  const set = names.find((name) => values[name] !== '');
  if (set === undefined) return;
  for (const name of names) {
    if (values[name] !== '') continue;
    checks.refuse(
      'flag-conflict',
      `--${name} is empty while ${checks.shown(set)} is given`,
      'give all three or none',
    );
  }
  if (checks.has('cluster-ca-cert')) {
    const message = `${checks.shown('cluster-ca-cert')} is given together with ${checks.shown(set)}`;
    checks.refuse('flag-conflict', message, 'agents have tokens or certificates: remove one of them');
  }
}

function checkStrategies(checks: FlagChecks, text: string): void {
  const remedy = `give a list of ${STRATEGY_NAMES.join(', ')}`;
  for (const name of text.split(',').map((part) => part.trim())) {
    if ((STRATEGY_NAMES as readonly string[]).includes(name)) continue;
    const problem = name === '' ? 'names an empty strategy' : `names the unknown strategy "${name}"`;
    checks.refuse('flag-strategies', `${checks.shown('proxy-strategies')} ${problem}`, remedy);
  }
}

function checkNumbers(checks: FlagChecks, values: ServeValues): void {
  checks.notNegative(
    'graceful-shutdown-timeout',
    'backend-dial-timeout',
    'keepalive-time',
    'frontend-keepalive-time',
  );
  checks.positive('half-close-timeout');
  checks.positive('xfr-channel-size');
  checks.positive('frontend-write-channel-size');
  checks.atLeast('server-count', 0, 'servers');
  checks.atLeast('tunnel-buffer-bytes', BUFFER_MIN_BYTES, 'bytes');
  checks.atLeast('kubeconfig-burst', 0, 'requests');
  if (values['buffer-budget-bytes'] !== 0) checks.atLeast('buffer-budget-bytes', BUFFER_MIN_BYTES, 'bytes');
}

function checkLabels(checks: FlagChecks, text: string): void {
  const problem = labelsProblem(text);
  if (problem === undefined) return;
  checks.refuse('flag-label', `${checks.shown('lease-label')} ${problem}`, 'write key=value,key=value');
}
