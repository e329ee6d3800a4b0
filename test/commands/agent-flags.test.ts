import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { agentFlags } from '../../src/commands/flags/agent-flags.ts';
import { formatFlagHelp } from '../../src/commands/flags/flag-help.ts';
import { flagsDocument } from '../../src/commands/flags/flags-document.ts';
import { parseAgent } from '../../src/commands/flags/validate-agent.ts';
import {
  pureEnvironment,
  refusalLines,
  UPSTREAM_KLOG_DEFAULTS,
  upstreamDefaults,
  withStatus,
} from './flag-setup.ts';

const LEAST = ['--ca-cert=/tls/ca.crt'];

function run(argv: readonly string[], changes: Parameters<typeof pureEnvironment>[0] = {}) {
  const request = parseAgent(argv, pureEnvironment(changes));
  assert.equal(request.kind, 'run');
  return request as Extract<typeof request, { kind: 'run' }>;
}
const lines = (argv: readonly string[]): string[] => refusalLines(() => parseAgent(argv, pureEnvironment()));

describe('the flags of agent', () => {
  test('are all of upstream, with the defaults of upstream where ours are not said to differ', () => {
    assert.deepEqual(upstreamDefaults(agentFlags), {
      'proxy-server-host': '127.0.0.1',
      'proxy-server-port': '8091',
      'ca-cert': '',
      'agent-cert': '',
      'agent-key': '',
      'service-account-token-path': '',
      'alpn-proto': '',
      'keepalive-time': '1h',
      'agent-id': '',
      'agent-identifiers': '',
      'sync-interval': '1s',
      'sync-interval-cap': '10s',
      'sync-forever': 'false',
      'probe-interval': '1s',
      'xfr-channel-size': '150',
      'warn-on-channel-limit': 'false',
      'health-server-port': '8093',
      'health-server-host': '',
      'admin-server-port': '8094',
      'admin-bind-address': '127.0.0.1',
      'enable-profiling': 'false',
      'enable-contention-profiling': 'false',
      'count-server-leases': 'false',
      'server-count-source': 'default',
      'lease-namespace': 'kube-system',
      'lease-label-selector': 'k8s-app=konnectivity-server',
      'lease-label': '',
      kubeconfig: '',
      'kube-api-content-type': 'application/vnd.kubernetes.protobuf',
      ...UPSTREAM_KLOG_DEFAULTS,
    });
  });

  test('become options', () => {
    const argv = [
      ...LEAST,
      '--agent-id=a1',
      '--agent-identifiers=host=a&ipv4=10.0.0.1',
      '--drain-timeout=5m',
      '-v4',
    ];
    assert.deepEqual(run(argv).options, {
      agentId: 'a1',
      identifiers: 'host=a&ipv4=10.0.0.1',
      server: {
        host: '127.0.0.1',
        port: 8091,
        tls: { certFile: '', keyFile: '', caFile: '/tls/ca.crt' },
        alpn: [],
        tokenFile: '',
        keepaliveMs: 3_600_000,
      },
      syncIntervalMs: 1_000,
      syncIntervalCapMs: 10_000,
      syncForever: false,
      leases: undefined,
      kubeconfig: '',
      drainTimeoutMs: 300_000,
      halfCloseTimeoutMs: 60_000,
      publicStreams: false,
      health: { host: '', port: 8093 },
      admin: { host: '127.0.0.1', port: 8094 },
      profiling: false,
      log: {
        verbosity: 4,
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

  test('application protocols are offered beside h2, which always is', () => {
    assert.deepEqual(run([...LEAST, '--alpn-proto=konnectivity,h2', '--alpn-proto=x']).options.server.alpn, [
      'konnectivity',
      'x',
    ]);
  });

  test('certificate, key and token are handed on', () => {
    const { options } = run([
      ...LEAST,
      '--agent-cert=/c',
      '--agent-key=/k',
      '--service-account-token-path=/t',
    ]);
    assert.deepEqual(options.server.tls, { certFile: '/c', keyFile: '/k', caFile: '/tls/ca.crt' });
    assert.equal(options.server.tokenFile, '/t');
  });

  test('a server address may have the brackets that upstream needs around IPv6', () => {
    assert.equal(run([...LEAST, '--proxy-server-host=[::1]']).options.server.host, '::1');
    assert.equal(run([...LEAST, '--proxy-server-host=::1']).options.server.host, '::1');
  });

  test('every port above 0 is fine', () => {
    const { options } = run([
      ...LEAST,
      '--proxy-server-port=443',
      '--health-server-port=80',
      '--admin-server-port=65535',
    ]);
    assert.deepEqual([options.server.port, options.health.port, options.admin.port], [443, 80, 65_535]);
  });

  test('the ID comes from the flag, then from the environment, and is new otherwise', () => {
    const env = { PROXY_AGENT_ID: 'from-env' };
    assert.equal(run([...LEAST, '--agent-id=from-flag'], { env }).options.agentId, 'from-flag');
    assert.equal(run(LEAST, { env }).options.agentId, 'from-env');
    assert.equal(run(LEAST).options.agentId, 'a-new-id');
  });

  test("Leases are counted by upstream's selector, by another, or by one under its old name", () => {
    const leases = (...argv: string[]) => run([...LEAST, '--count-server-leases', ...argv]).options.leases;
    const usual = { namespace: 'kube-system', selector: 'k8s-app=konnectivity-server', source: 'default' };
    assert.deepEqual(leases(), usual);
    const selector = 'a in (b,c),!d';
    assert.deepEqual(leases(`--lease-label-selector=${selector}`), { ...usual, selector });
    assert.deepEqual(leases(`--lease-label=${selector}`), { ...usual, selector });
    assert.deepEqual(leases('--lease-namespace=ns', '--server-count-source=max'), {
      ...usual,
      namespace: 'ns',
      source: 'max',
    });
  });

  test('an interval equal to its cap is fine', () => {
    assert.equal(run([...LEAST, '--sync-interval=10s']).options.syncIntervalMs, 10_000);
  });

  test('an interval of 0 is no busy loop, and said', () => {
    const { options, warnings } = run([...LEAST, '--sync-interval=0', '--sync-interval-cap=0']);
    assert.deepEqual([options.syncIntervalMs, options.syncIntervalCapMs], [10, 10]);
    assert.deepEqual(warnings, ['--sync-interval=0s is too short: 10 ms are used']);
  });

  test('a short keepalive becomes the 10 s that gRPC in Go makes of it', () => {
    assert.equal(run([...LEAST, '--keepalive-time=1s']).options.server.keepaliveMs, 10_000);
  });

  test('every flag that is accepted without meaning is taken and noted once, and nothing else is', () => {
    const accepted = withStatus(agentFlags, 'accepted');
    const argv = accepted.map((name) => `--${name}=${sample(name)}`);
    const { notes } = run([...LEAST, '--sync-forever', '--enable-profiling', ...argv]);
    assert.deepEqual(
      notes.map((note) => note.split(' ')[0]).sort(),
      accepted.map((name) => `--${name}`).sort(),
    );
    assert.deepEqual(run([...LEAST, '--sync-forever']).notes, []);
  });
});

function sample(name: string): string {
  const { kind } = agentFlags[name as keyof typeof agentFlags];
  if (name === 'server-count-source') return 'max';
  if (name === 'log-backtrace-at') return 'client.go:5';
  return { bool: 'true', int: '5', duration: '5s', string: 'there', strings: 'there' }[kind];
}

const EMPTY_CA =
  '--ca-cert is empty, and without it no server can be trusted; give the CA that signs the certificates of the servers';
const REFUSALS: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['no CA', [], [EMPTY_CA]],
  [
    'a --vmodule that cannot be read',
    [...LEAST, '--vmodule=dial'],
    ['--vmodule=dial has "dial", which is not pattern=N; write pattern=N,..., such as backends=4 or dial*=5'],
  ],
  [
    'a severity that there is not',
    [...LEAST, '--stderrthreshold=LOUD', '--alsologtostderrthreshold=4'],
    [
      '--stderrthreshold=LOUD is no severity; give one of INFO, WARNING, ERROR, FATAL',
      '--alsologtostderrthreshold=4 is no severity; give one of INFO, WARNING, ERROR, FATAL',
    ],
  ],
  [
    'a negative size of the log file',
    [...LEAST, '--log-file-max-size=-1'],
    ['--log-file-max-size=-1 is too small; give at least 0 MB, where 0 is no limit'],
  ],
  [
    'a place that is none',
    [...LEAST, '--log-backtrace-at=client.go'],
    ['--log-backtrace-at=client.go is no place in a source file; write file.go:N'],
  ],

  ...['ca-cert', 'agent-cert', 'agent-key', 'service-account-token-path', 'kubeconfig'].map(
    (name) =>
      [
        `a missing file of --${name}`,
        [...LEAST, '--agent-cert=/c', '--agent-key=/k', `--${name}=/missing/f`],
        [`--${name}=/missing/f is a file that does not exist; check the path`],
      ] as const,
  ),
  [
    'a certificate without its key',
    [...LEAST, '--agent-cert=/c'],
    ['--agent-cert=/c is given without --agent-key; give --agent-key as well'],
  ],
  [
    'a key without its certificate',
    [...LEAST, '--agent-key=/k'],
    ['--agent-key=/k is given without --agent-cert; give --agent-cert as well'],
  ],
  ...['proxy-server-port', 'health-server-port', 'admin-server-port'].flatMap((name) =>
    [0, -1, 65_536].map(
      (port) =>
        [
          `--${name}=${port}`,
          [...LEAST, `--${name}=${port}`],
          [`--${name}=${port} is no port for this; choose one from 1 to 65535`],
        ] as const,
    ),
  ),
  [
    'contention profiling without profiling',
    [...LEAST, '--enable-contention-profiling'],
    [
      '--enable-contention-profiling=true is given without --enable-profiling; give --enable-profiling as well',
    ],
  ],
  [
    'an interval above its cap',
    [...LEAST, '--sync-interval=11s'],
    [
      '--sync-interval=11s is above --sync-interval-cap=10s; raise --sync-interval-cap or lower --sync-interval',
    ],
  ],
  ...['drain-timeout', 'keepalive-time', 'probe-interval', 'sync-interval'].map(
    (name) =>
      [
        `a negative --${name}`,
        [...LEAST, `--${name}=-1s`],
        [`--${name} is negative (-1000 ms); give 0 or more`],
      ] as const,
  ),
  [
    '--xfr-channel-size=0',
    [...LEAST, '--xfr-channel-size=0'],
    ['--xfr-channel-size=0 must be greater than 0; leave it out for the default'],
  ],
  [
    'an unknown kind of identifier',
    [...LEAST, '--agent-identifiers=host=a&uid=b'],
    [
      '--agent-identifiers=host=a&uid=b: unknown identifier kind "uid" in "uid=b"; the kinds are ipv4, ipv6, host, cidr, default-route; write a URL-encoded query such as host=node-a&ipv4=10.0.0.1',
    ],
  ],
  [
    'an address that is none',
    [...LEAST, '--agent-identifiers=ipv4=10.0.0'],
    [
      '--agent-identifiers=ipv4=10.0.0: "ipv4=10.0.0": "10.0.0" is not a valid ipv4; write a URL-encoded query such as host=node-a&ipv4=10.0.0.1',
    ],
  ],
  [
    'an unknown source of the server count',
    [...LEAST, '--server-count-source=min'],
    ['--server-count-source=min is none of the values there are; give default or max'],
  ],
  [
    'a namespace of Leases that is none',
    [...LEAST, '--count-server-leases', '--lease-namespace='],
    ['--lease-namespace= is no name of a namespace; give the one of the Leases, such as kube-system'],
  ],
  [
    'the old and the new label selector when they differ',
    [...LEAST, '--count-server-leases', '--lease-label=a=b', '--lease-label-selector=c=d'],
    [
      '--lease-label=a=b is given together with --lease-label-selector=c=d; remove --lease-label, the old name of the same flag',
    ],
  ],
  [
    'an application protocol that is none',
    [...LEAST, '--alpn-proto=konnectivity,a b'],
    ['--alpn-proto has "a b", which names no protocol; give names such as konnectivity'],
  ],
  [
    'a bad label selector',
    [...LEAST, '--lease-label-selector=a in b'],
    [
      '--lease-label-selector=a in b has "a in b", which is no requirement; write a label selector such as key=value,!other',
    ],
  ],
  [
    'an empty server address',
    [...LEAST, '--proxy-server-host='],
    ['--proxy-server-host is empty; give the name or address of the proxy servers'],
  ],
  [
    'an ID that cannot be sent',
    [...LEAST, '--agent-id= a'],
    [
      '--agent-id (or PROXY_AGENT_ID) " a" cannot be sent to peers; use printable ASCII without spaces around it',
    ],
  ],
  [
    'a flag of serve',
    [...LEAST, '--agent-port=1'],
    ['--agent-port is a flag of konnectivity-ts serve; konnectivity-ts agent --help lists the flags'],
  ],
];

describe('agent refuses', () => {
  for (const [name, argv, expected] of REFUSALS) test(name, () => assert.deepEqual(lines(argv), expected));

  for (const name of ['bind-address', 'apiserver-port-mapping', 'feature-gates']) {
    test(`the distribution's --${name} by name, with what to do`, () => {
      const found = lines([...LEAST, `--${name}=x`]);
      assert.equal(found.length, 1);
      assert.match(found[0] ?? '', new RegExp(`^--${name} is a flag of another distribution; .*remove it`));
    });
  }
});

describe('help and docs of agent', () => {
  test('help lists every flag but the hidden one in 80 columns', () => {
    const request = parseAgent(['-h'], pureEnvironment());
    assert.equal(request.kind, 'help');
    const text = formatFlagHelp('konnectivity-ts agent', agentFlags);
    assert.equal(request.kind === 'help' && request.text, text);
    for (const name of Object.keys(agentFlags)) {
      const listed = new RegExp(`^ {2}(?:    |-\\w, )--${name}(?: |$)`, 'm').test(text);
      assert.equal(listed, name !== 'lease-label', name);
    }
    for (const line of text.split('\n')) assert.ok(line.length <= 80, line);
  });

  test('docs list every flag, the hidden one, too', () => {
    for (const name of Object.keys(agentFlags)) assert.ok(flagsDocument().includes(`| \`--${name}\``), name);
  });
});
