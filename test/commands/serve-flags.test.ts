import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { formatFlagHelp } from '../../src/commands/flags/flag-help.ts';
import { flagsDocument } from '../../src/commands/flags/flags-document.ts';
import { serveFlags } from '../../src/commands/flags/serve-flags.ts';
import { parseServe } from '../../src/commands/flags/validate-serve.ts';
import { GIB, pureEnvironment, UPSTREAM_KLOG_DEFAULTS, upstreamDefaults, withStatus } from './flag-setup.ts';

const AGENT_SIDE = ['--cluster-cert=/tls/c.crt', '--cluster-key=/tls/c.key', '--cluster-ca-cert=/tls/a.ca'];
const UNIX = ['--uds-name=/run/k.sock', '--server-port=0', ...AGENT_SIDE];
const FRONTEND_TLS = ['--server-cert=/tls/s.crt', '--server-key=/tls/s.key', '--server-ca-cert=/tls/k.ca'];
const TCP = [...FRONTEND_TLS, ...AGENT_SIDE];

function run(argv: readonly string[], changes: Parameters<typeof pureEnvironment>[0] = {}) {
  const request = parseServe(argv, pureEnvironment(changes));
  assert.equal(request.kind, 'run');
  return request as Extract<typeof request, { kind: 'run' }>;
}
describe('the flags of serve', () => {
  test('are all of upstream, with the defaults of upstream where ours are not said to differ', () => {
    assert.deepEqual(upstreamDefaults(serveFlags), {
      mode: 'grpc',
      'uds-name': '',
      'delete-existing-uds-file': 'true',
      'server-port': '8090',
      'server-bind-address': '',
      'server-cert': '',
      'server-key': '',
      'server-ca-cert': '',
      'frontend-keepalive-time': '1h',
      'agent-port': '8091',
      'agent-bind-address': '',
      'cluster-cert': '',
      'cluster-key': '',
      'cluster-ca-cert': '',
      'keepalive-time': '1h',
      'server-id': '',
      'server-count': '1',
      'cipher-suites': '',
      'tls-min-version': '',
      'proxy-strategies': 'default',
      'backend-dial-timeout': '0s',
      'graceful-shutdown-timeout': '0s',
      'xfr-channel-size': '10',
      'frontend-write-channel-size': '10',
      'warn-on-channel-limit': 'true',
      'health-port': '8092',
      'health-bind-address': '',
      'admin-port': '8095',
      'admin-bind-address': '127.0.0.1',
      'enable-profiling': 'false',
      'enable-contention-profiling': 'false',
      'agent-namespace': '',
      'agent-service-account': '',
      'authentication-audience': '',
      'enable-lease-controller': 'false',
      'lease-namespace': 'kube-system',
      'lease-label': 'k8s-app=konnectivity-server',
      kubeconfig: '',
      'kubeconfig-qps': '0',
      'kubeconfig-burst': '0',
      'kube-api-content-type': 'application/vnd.kubernetes.protobuf',
      ...UPSTREAM_KLOG_DEFAULTS,
    });
  });

  test('become options: a Unix socket', () => {
    assert.deepEqual(run([...UNIX, '--server-id=s1']).options, {
      serverId: 's1',
      serverCount: 1,
      frontends: [{ mode: 'grpc', address: { kind: 'unix', path: '/run/k.sock', deleteExisting: true } }],
      agents: {
        host: '',
        port: 8091,
        tls: { certFile: '/tls/c.crt', keyFile: '/tls/c.key', caFile: '/tls/a.ca' },
      },
      tlsMinVersion: 'TLSv1.2',
      tlsCiphers: undefined,
      strategies: ['default'],
      stateDirectory: '',
      tokens: undefined,
      kube: { kubeconfig: '', perSecond: 0, burst: 0 },
      drainingFallback: 'last-resort',
      backendChoice: 'random',
      publicStreams: false,
      keepaliveMs: 3_600_000,
      frontendKeepaliveMs: 3_600_000,
      backendDialTimeoutMs: 20_000,
      gracefulShutdownTimeoutMs: 0,
      halfCloseTimeoutMs: 60_000,
      tunnelBufferBytes: 16_777_216,
      bufferBudgetBytes: GIB / 2,
      health: { host: '', port: 8092 },
      admin: { host: '127.0.0.1', port: 8095 },
      adminApi: { socket: 'auto', tcp: undefined, auditLog: '' },
      profiling: false,
      leases: undefined,
      log: {
        verbosity: 2,
        modules: [],
        format: 'text',
        logToStderr: true,
        alsoLogToStderr: false,
        alsoLogToStderrThreshold: 0,
        stderrThreshold: 2,
        legacyStderrThreshold: true,
        logFile: '',
        logFileMaxBytes: 1800 * 1024 * 1024,
        logDir: '',
        oneOutput: false,
        skipHeaders: false,
        skipLogHeaders: false,
        addDirHeader: false,
      },
    });
  });

  test('become options: TCP', () => {
    const { options } = run([
      ...TCP,
      '--mode=http-connect',
      '--server-bind-address=[::1]',
      '--server-port=9090',
    ]);
    assert.deepEqual(options.frontends, [
      {
        mode: 'http-connect',
        address: {
          kind: 'tls',
          host: '::1',
          port: 9090,
          tls: { certFile: '/tls/s.crt', keyFile: '/tls/s.key', caFile: '/tls/k.ca' },
        },
      },
    ]);
  });

  test('the lease controller gets its namespace and labels', () => {
    const argv = ['--enable-lease-controller', '--lease-label=a=b,c/d=', '--lease-namespace=ns'];
    const { leases, kube } = run([...UNIX, ...argv, '--kubeconfig=/k', '--kubeconfig-qps=7']).options;
    assert.deepEqual(leases, { namespace: 'ns', labels: { a: 'b', 'c/d': '' } });
    assert.deepEqual(kube, { kubeconfig: '/k', perSecond: 7, burst: 0 });
  });

  test('an empty admin address is this machine alone', () => {
    assert.equal(run([...UNIX, '--admin-bind-address=']).options.admin.host, '127.0.0.1');
  });

  test('the ID comes from the flag, then from the environment, and is new otherwise', () => {
    const env = { PROXY_SERVER_ID: 'from-env' };
    assert.equal(run([...UNIX, '--server-id=from-flag'], { env }).options.serverId, 'from-flag');
    assert.equal(run(UNIX, { env }).options.serverId, 'from-env');
    assert.equal(run(UNIX).options.serverId, 'a-new-id');
  });

  test('the budget is what was given, or a quarter of the memory up to 512 MiB', () => {
    assert.equal(run(UNIX, { memoryBytes: GIB }).options.bufferBudgetBytes, GIB / 4);
    assert.equal(run(UNIX, { memoryBytes: 100 * GIB }).options.bufferBudgetBytes, GIB / 2);
    assert.equal(run([...UNIX, '--buffer-budget-bytes=1048576']).options.bufferBudgetBytes, 1_048_576);
  });

  test('strategies keep their order and count once', () => {
    const { options } = run([...UNIX, '--proxy-strategies=destHost,defaultRoute, default,destHost']);
    assert.deepEqual(options.strategies, ['destHost', 'defaultRoute', 'default']);
  });

  test('a time longer than timers can hold does not become a short one', () => {
    const { options } = run([...UNIX, '--graceful-shutdown-timeout=1000h', '--keepalive-time=2000h']);
    assert.equal(options.gracefulShutdownTimeoutMs, 2 ** 31 - 1);
    assert.equal(options.keepaliveMs, 2 ** 31 - 1);
  });

  test('a keepalive of 0 or below a second becomes what gRPC in Go makes of it', () => {
    assert.equal(run([...UNIX, '--keepalive-time=0']).options.keepaliveMs, 7_200_000);
    assert.equal(run([...UNIX, '--frontend-keepalive-time=5ms']).options.frontendKeepaliveMs, 1_000);
  });

  test('no dial time-out at all is possible, and said', () => {
    const { options, warnings } = run([...UNIX, '--backend-dial-timeout=0']);
    assert.equal(options.backendDialTimeoutMs, 0);
    assert.deepEqual(warnings, [
      '--backend-dial-timeout=0: a dial that its agent never answers waits for ever',
    ]);
    assert.deepEqual(run(UNIX).warnings, []);
  });

  test('token authentication and the Kubernetes API become options, and nothing is warned of', () => {
    const { options, warnings } = run([
      ...UNIX.slice(0, -1),
      '--agent-namespace=kube-system',
      '--agent-service-account=konnectivity-agent',
      '--authentication-audience=system:konnectivity-server',
      '--kubeconfig=/k',
      '--kubeconfig-qps=7.5',
      '--kubeconfig-burst=20',
    ]);
    assert.deepEqual(options.tokens, {
      namespace: 'kube-system',
      serviceAccount: 'konnectivity-agent',
      audience: 'system:konnectivity-server',
    });
    assert.deepEqual(options.kube, { kubeconfig: '/k', perSecond: 7.5, burst: 20 });
    assert.deepEqual(warnings, []);
  });

  test('agents without client certificates are warned of', () => {
    const { warnings } = run(UNIX.filter((flag) => !flag.startsWith('--cluster-ca-cert')));
    assert.deepEqual(warnings, [
      '--cluster-ca-cert is empty: whoever reaches the agent port may be an agent',
    ]);
  });

  test('every flag that is accepted without meaning is taken and noted once, and nothing else is', () => {
    const accepted = withStatus(serveFlags, 'accepted');
    const argv = accepted.flatMap((name) => {
      const { kind } = serveFlags[name as keyof typeof serveFlags];
      if (name === 'enable-contention-profiling') return [`--${name}`];
      return kind === 'bool' ? [`--${name}`, `--${name}`] : [`--${name}=${sample(name, kind)}`];
    });
    const { notes } = run([...UNIX, '-v4', '--enable-profiling', ...argv]);
    assert.deepEqual(
      notes.map((note) => note.split(' ')[0]).sort(),
      accepted.map((name) => `--${name}`).sort(),
    );
    for (const note of notes) assert.match(note, /^--\S+ has no meaning here: \S/);
    assert.deepEqual(run([...UNIX, '-v4']).notes, []);
  });
});

function sample(name: string, kind: string): string {
  if (name === 'lease-label') return 'a=b';
  if (name === 'log-backtrace-at') return 'server.go:5';
  if (name === 'buffer-budget-bytes') return '1048576';
  return kind === 'int' || kind === 'number' ? '5' : kind === 'duration' ? '5s' : '/there';
}

const SUITE = 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256';

describe('TLS names of Go', () => {
  for (const [name, version] of [
    ['', 'TLSv1.2'],
    ['VersionTLS10', 'TLSv1'],
    ['VersionTLS11', 'TLSv1.1'],
    ['VersionTLS12', 'TLSv1.2'],
    ['VersionTLS13', 'TLSv1.3'],
  ] as const) {
    test(`"${name}" is ${version}, and warned of below 1.2`, () => {
      const { options, warnings } = run([...UNIX, `--tls-min-version=${name}`]);
      assert.equal(options.tlsMinVersion, version);
      assert.equal(warnings.length, ['TLSv1', 'TLSv1.1'].includes(version) ? 1 : 0);
    });
  }

  test('suites become those of OpenSSL, in order, and leave TLS 1.3 as it is', () => {
    const { options } = run([
      ...UNIX,
      `--cipher-suites=${SUITE}`,
      '--cipher-suites=TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA',
    ]);
    assert.equal(
      options.tlsCiphers,
      'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-SHA',
    );
  });
});

describe('help and docs of serve', () => {
  test('help is given instead of refusals', () => {
    const request = parseServe(['--help'], pureEnvironment());
    assert.equal(request.kind, 'help');
  });

  test('help lists every flag under its heading in 80 columns', () => {
    const text = formatFlagHelp('konnectivity-ts serve', serveFlags);
    for (const [name, { group }] of Object.entries(serveFlags)) {
      assert.match(text, new RegExp(`^ {2}(?:    |-\\w, )--${name}(?: |$)`, 'm'));
      assert.ok(text.includes(`\n${group}:\n`), group);
    }
    for (const line of text.split('\n')) assert.ok(line.length <= 80, line);
  });

  test('help uses the width it is given, and 80 columns at least', () => {
    const lengths = (width: number) =>
      Math.max(
        ...formatFlagHelp('it', serveFlags, width)
          .split('\n')
          .map((l) => l.length),
      );
    assert.ok(lengths(140) > 80 && lengths(140) <= 140);
    assert.equal(formatFlagHelp('it', serveFlags, 20), formatFlagHelp('it', serveFlags, 80));
  });

  test('help names choices, defaults and what has no effect', () => {
    const text = formatFlagHelp('it', serveFlags, 200);
    assert.match(text, /--mode string +protocol of the frontend; grpc or http-connect \(default grpc\)\n/);
    assert.match(text, /--xfr-channel-size int .*\(default 10\) \[no meaning here\]\n/);
  });

  test('docs/FLAGS.md is what the definitions make', () => {
    const file = new URL('../../docs/FLAGS.md', import.meta.url);
    assert.equal(readFileSync(file, 'utf8'), flagsDocument(), 'run node --import tsx scripts/flags-doc.ts');
  });
});
