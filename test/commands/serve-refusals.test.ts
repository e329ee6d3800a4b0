import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CIPHER_SUITE_NAMES } from '../../src/commands/flags/go-tls-names.ts';
import { parseServe } from '../../src/commands/flags/validate-serve.ts';
import { pureEnvironment, refusalLines } from './flag-setup.ts';

const AGENT_SIDE = ['--cluster-cert=/tls/c.crt', '--cluster-key=/tls/c.key', '--cluster-ca-cert=/tls/a.ca'];
const UNIX = ['--uds-name=/run/k.sock', '--server-port=0', ...AGENT_SIDE];
const FRONTEND_TLS = ['--server-cert=/tls/s.crt', '--server-key=/tls/s.key', '--server-ca-cert=/tls/k.ca'];
const TCP = [...FRONTEND_TLS, ...AGENT_SIDE];

const lines = (argv: readonly string[]): string[] => refusalLines(() => parseServe(argv, pureEnvironment()));

const SUITE = 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256';
const PORT_REMEDY = 'is no port for this; choose one from 1024 to 49151';
const REFUSALS: readonly (readonly [string, readonly string[], readonly (string | RegExp)[]])[] = [
  [
    'no certificate and key for agents',
    ['--uds-name=/run/k.sock', '--server-port=0'],
    ['--cluster-cert and --cluster-key are empty, and agents need a server that shows who it is; give both'],
  ],
  [
    'no certificate and key for a TCP frontend',
    ['--server-ca-cert=/tls/k.ca', ...AGENT_SIDE],
    [
      '--server-cert and --server-key are empty, and a TCP frontend needs them; give both, or --uds-name and --server-port=0',
    ],
  ],
  [
    'no CA for a TCP frontend',
    ['--server-cert=/tls/s.crt', '--server-key=/tls/s.key', ...AGENT_SIDE],
    [
      '--server-ca-cert is empty, and a TCP frontend needs it to know kube-apiserver; give it, or --uds-name and --server-port=0',
    ],
  ],
  ...[
    'server-cert',
    'server-key',
    'server-ca-cert',
    'cluster-cert',
    'cluster-key',
    'cluster-ca-cert',
    'kubeconfig',
  ].map(
    (name) =>
      [
        `a missing file of --${name}`,
        [...TCP, `--${name}=/missing/f`],
        [`--${name}=/missing/f is a file that does not exist; check the path`],
      ] as const,
  ),
  ...[
    ['server-cert', 'server-key'],
    ['server-key', 'server-cert'],
    ['cluster-cert', 'cluster-key'],
    ['cluster-key', 'cluster-cert'],
  ].map(
    ([given, missing]) =>
      [
        `--${given} without --${missing}`,
        [...TCP, `--${given}=/tls/x`, `--${missing}=`],
        [`--${given}=/tls/x is given without --${missing}; give --${missing} as well`],
      ] as const,
  ),
  [
    'another mode',
    [...UNIX, '--mode=socks'],
    ['--mode=socks is none of the values there are; give grpc or http-connect'],
  ],
  [
    'a Unix socket with the default server port',
    UNIX.filter((flag) => flag !== '--server-port=0'),
    [
      '--server-port=8090 is given together with --uds-name=/run/k.sock; add --server-port=0 for the Unix socket, or remove --uds-name for TCP',
    ],
  ],
  ...['server-cert', 'server-key', 'server-ca-cert'].map(
    (name) =>
      [
        `a Unix socket with --${name}`,
        [...UNIX, ...FRONTEND_TLS.filter((flag) => name === 'server-ca-cert' || !flag.includes('ca-cert'))],
        FRONTEND_TLS.filter((flag) => name === 'server-ca-cert' || !flag.includes('ca-cert')).map(
          (flag) =>
            `${flag} is given together with --uds-name=/run/k.sock; remove ${flag.split('=')[0]}: a Unix socket has no TLS`,
        ),
      ] as const,
  ),
  [
    'a Unix path that is too long',
    [...UNIX, `--uds-name=/${'x'.repeat(107)}`],
    [
      `--uds-name /${'x'.repeat(107)} is 108 bytes long, and a Unix socket's path has room for 107; choose a shorter path`,
    ],
  ],
  ...['agent-port', 'admin-port', 'health-port'].flatMap((name) =>
    [1023, 0, -1, 49152].map(
      (port) =>
        [`--${name}=${port}`, [...UNIX, `--${name}=${port}`], [`--${name}=${port} ${PORT_REMEDY}`]] as const,
    ),
  ),
  ...[1023, 0, -1, 49152].map(
    (port) =>
      [
        `--server-port=${port} over TCP`,
        [...TCP, `--server-port=${port}`],
        [`--server-port=${port} ${PORT_REMEDY}`],
      ] as const,
  ),
  [
    'contention profiling without profiling',
    [...UNIX, '--enable-contention-profiling'],
    [
      '--enable-contention-profiling=true is given without --enable-profiling; give --enable-profiling as well',
    ],
  ],
  [
    'half-set token authentication',
    [...UNIX.slice(0, -1), '--agent-namespace=kube-system'],
    [
      '--agent-service-account is empty while --agent-namespace=kube-system is given; give all three or none',
      '--authentication-audience is empty while --agent-namespace=kube-system is given; give all three or none',
    ],
  ],
  [
    'token authentication together with a CA for agents',
    [...UNIX, '--agent-namespace=n', '--agent-service-account=s', '--authentication-audience=a'],
    [
      '--cluster-ca-cert=/tls/a.ca is given together with --agent-namespace=n; agents have tokens or certificates: remove one of them',
    ],
  ],
  [
    'a negative burst',
    [...UNIX, '--kubeconfig-burst=-1'],
    ['--kubeconfig-burst=-1 is too small; give at least 0 requests'],
  ],
  [
    'an ID that cannot be in the name of a Lease',
    [...UNIX, '--enable-lease-controller', '--server-id=Master_1'],
    [
      '--server-id (or PROXY_SERVER_ID) "Master_1" makes "konnectivity-proxy-server-Master_1", which cannot be the name of a Lease; with --enable-lease-controller use an ID of at most 227 lower-case letters, digits, - and .',
    ],
  ],
  [
    'a namespace of Leases that is none',
    [...UNIX, '--enable-lease-controller', '--lease-namespace=a/b'],
    ['--lease-namespace=a/b is no name of a namespace; give the one of the Leases, such as kube-system'],
  ],
  [
    'no strategy',
    [...UNIX, '--proxy-strategies='],
    ['--proxy-strategies= names an empty strategy; give a list of default, destHost, defaultRoute'],
  ],
  [
    'an empty strategy in a list',
    [...UNIX, '--proxy-strategies=default,,destHost'],
    [
      '--proxy-strategies=default,,destHost names an empty strategy; give a list of default, destHost, defaultRoute',
    ],
  ],
  [
    'an unknown strategy',
    [...UNIX, '--proxy-strategies=default,desthost'],
    [
      '--proxy-strategies=default,desthost names the unknown strategy "desthost"; give a list of default, destHost, defaultRoute',
    ],
  ],
  [
    'an unknown TLS version',
    [...UNIX, '--tls-min-version=TLS1.2'],
    [
      '--tls-min-version=TLS1.2 is an unknown TLS version; give one of VersionTLS10, VersionTLS11, VersionTLS12, VersionTLS13',
    ],
  ],
  ...['TLS_NO_SUCH_SUITE', 'TLS_RSA_WITH_RC4_128_SHA', 'ECDHE-RSA-AES128-GCM-SHA256'].map(
    (suite) =>
      [
        `the cipher suite ${suite}`,
        [...UNIX, `--cipher-suites=${SUITE},${suite}`],
        [
          `--cipher-suites=${suite} is an unknown or insecure cipher suite; the suites are ${CIPHER_SUITE_NAMES.slice(0, 10).join(', ')}`,
        ],
      ] as const,
  ),
  ...(['', 'novalue', 'a=b=c', '-a=b', 'a=b!', 'Bad_Prefix/a=b', 'a/b/c=d'].map(
    (label) =>
      [
        `the label "${label}"`,
        [...UNIX, `--lease-label=${label}`],
        [/^--lease-label=.* has .*; write key=value,key=value$/],
      ] as const,
  ) as never),
  ...['graceful-shutdown-timeout', 'backend-dial-timeout', 'keepalive-time', 'frontend-keepalive-time'].map(
    (name) =>
      [
        `a negative --${name}`,
        [...UNIX, `--${name}=-1s`],
        [`--${name} is negative (-1000 ms); give 0 or more`],
      ] as const,
  ),
  ...['xfr-channel-size', 'frontend-write-channel-size'].map(
    (name) =>
      [
        `--${name}=0`,
        [...UNIX, `--${name}=0`],
        [`--${name}=0 must be greater than 0; leave it out for the default`],
      ] as const,
  ),
  [
    'no half-close time-out',
    [...UNIX, '--half-close-timeout=0'],
    ['--half-close-timeout=0 must be greater than 0; leave it out for the default'],
  ],
  [
    'a buffer smaller than a packet',
    [...UNIX, '--tunnel-buffer-bytes=1'],
    ['--tunnel-buffer-bytes=1 is too small; give at least 65536 bytes'],
  ],
  [
    'a negative budget',
    [...UNIX, '--buffer-budget-bytes=-1'],
    ['--buffer-budget-bytes=-1 is too small; give at least 65536 bytes'],
  ],
  [
    'a negative server count',
    [...UNIX, '--server-count=-1'],
    ['--server-count=-1 is too small; give at least 0 servers'],
  ],
  [
    'an unknown draining fallback',
    [...UNIX, '--draining-fallback=never'],
    ['--draining-fallback=never is none of the values there are; give last-resort or strategy'],
  ],
  [
    'an unknown backend choice',
    [...UNIX, '--backend-choice=first'],
    ['--backend-choice=first is none of the values there are; give random or least-loaded'],
  ],
  [
    'an ID that cannot be sent',
    [...UNIX, '--server-id=n\u00f6de'],
    [
      '--server-id (or PROXY_SERVER_ID) "n\u00f6de" cannot be sent to peers; use printable ASCII without spaces around it',
    ],
  ],
  [
    'a --vmodule that cannot be read',
    [...UNIX, '--vmodule=dial'],
    ['--vmodule=dial has "dial", which is not pattern=N; write pattern=N,..., such as backends=4 or dial*=5'],
  ],
  [
    'a severity that there is not',
    [...UNIX, '--stderrthreshold=LOUD', '--alsologtostderrthreshold=4'],
    [
      '--stderrthreshold=LOUD is no severity; give one of INFO, WARNING, ERROR, FATAL',
      '--alsologtostderrthreshold=4 is no severity; give one of INFO, WARNING, ERROR, FATAL',
    ],
  ],
  [
    'a negative size of the log file',
    [...UNIX, '--log-file-max-size=-1'],
    ['--log-file-max-size=-1 is too small; give at least 0 MB, where 0 is no limit'],
  ],
  [
    'a place that is none',
    [...UNIX, '--log-backtrace-at=client.go'],
    ['--log-backtrace-at=client.go is no place in a source file; write file.go:N'],
  ],
  [
    'a flag that does not exist',
    [...UNIX, '--server-prot=1'],
    [
      '--server-prot is an unknown flag; did you mean --server-port? konnectivity-ts serve --help lists the flags',
    ],
  ],
];

describe('serve refuses', () => {
  for (const [name, argv, expected] of REFUSALS) {
    test(name, () => {
      const found = lines(argv);
      assert.equal(found.length, expected.length, found.join('\n'));
      for (const [index, line] of expected.entries()) {
        if (typeof line === 'string') assert.equal(found[index], line);
        else assert.match(found[index] ?? '', line);
      }
    });
  }

  for (const name of ['bind-address', 'apiserver-port-mapping', 'feature-gates']) {
    test(`the distribution's --${name} by name, with what to do`, () => {
      const found = lines([...UNIX, `--${name}=x`]);
      assert.equal(found.length, 1);
      assert.match(found[0] ?? '', new RegExp(`^--${name} is a flag of another distribution; .*remove it`));
    });
  }

  test('everything that is wrong at once', () => {
    assert.deepEqual(
      lines(['--agent-port=1', '--xfr-channel-size=0']).map((line) => line.split(/[ =]/)[0]),
      ['--server-cert', '--server-ca-cert', '--cluster-cert', '--agent-port', '--xfr-channel-size'],
    );
  });

  test('no server ID, whatever it is, without the lease controller', () => {
    assert.deepEqual(lines([...UNIX, '--server-id=Master_1', '--lease-namespace=a/b']), []);
  });
});
