import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { freePort } from '../../src/commands/demo/free-port.ts';
import { Pki } from '../peers/pki.ts';

const BINARY = 'bin/konnectivity-ts.js';

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(argv: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [BINARY, ...argv],
      { timeout: 60_000, env: { PATH: process.env.PATH } },
      (_error, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

const directory = mkdtempSync(join(tmpdir(), 'kts-refusals-'));
const file = join(directory, 'some.pem');
writeFileSync(file, 'no PEM\n');
const pki = new Pki();

const AGENTS = [`--cluster-cert=${file}`, `--cluster-key=${file}`];
const UNIX = [`--uds-name=${directory}/k.sock`, '--server-port=0', ...AGENTS];
const TCP = [`--server-cert=${file}`, `--server-key=${file}`, `--server-ca-cert=${file}`, ...AGENTS];
const AGENT = [`--ca-cert=${file}`];
const TOKENS = ['--agent-namespace=a', '--agent-service-account=b', '--authentication-audience=c'];

/** Arguments that are refused with one line: it names the flag and its value, and what to do after a semicolon. */
const SERVE: readonly (readonly [name: string, argv: readonly string[], line: RegExp])[] = [
  [
    'no certificate for agents',
    ['--uds-name=/k.sock', '--server-port=0'],
    /^--cluster-cert and --cluster-key are empty.*; give/,
  ],
  [
    'no certificate for a TCP frontend',
    [...AGENTS, `--server-ca-cert=${file}`],
    /^--server-cert and --server-key are empty.*; give/,
  ],
  [
    'a TCP frontend without CA',
    [...AGENTS, `--server-cert=${file}`, `--server-key=${file}`],
    /^--server-ca-cert is empty.*; give/,
  ],
  ['a missing file', [...UNIX, '--cluster-ca-cert=/missing'], /^--cluster-ca-cert=\/missing .*; check/],
  [
    'a certificate without key',
    [`--uds-name=${directory}/k.sock`, '--server-port=0', `--cluster-cert=${file}`],
    /^--cluster-cert=\S+ is given without --cluster-key; give/,
  ],
  [
    'a key without certificate',
    [`--uds-name=${directory}/k.sock`, '--server-port=0', `--cluster-key=${file}`],
    /^--cluster-key=\S+ is given without --cluster-cert; give/,
  ],
  ['another mode', [...UNIX, '--mode=quic'], /^--mode=quic .*; give grpc or http-connect/],
  [
    'a Unix socket with a port',
    [`--uds-name=${directory}/k.sock`, ...AGENTS],
    /^--server-port=8090 is given together with --uds-name=\S+; /,
  ],
  [
    'a Unix socket with TLS',
    [...UNIX, `--server-ca-cert=${file}`],
    /^--server-ca-cert=\S+ is given together with --uds-name=\S+; /,
  ],
  ['a low server port', [...TCP, '--server-port=80'], /^--server-port=80 .*; choose/],
  ['a high agent port', [...UNIX, '--agent-port=50000'], /^--agent-port=50000 .*; choose/],
  ['a low admin port', [...UNIX, '--admin-port=1'], /^--admin-port=1 .*; choose/],
  ['health port 0', [...UNIX, '--health-port=0'], /^--health-port=0 .*; choose/],
  [
    'contention profiles alone',
    [...UNIX, '--enable-contention-profiling'],
    /^--enable-contention-profiling=true .*; give --enable-profiling/,
  ],
  [
    'an empty strategy',
    [...UNIX, '--proxy-strategies='],
    /^--proxy-strategies= names an empty strategy; give/,
  ],
  ['an unknown strategy', [...UNIX, '--proxy-strategies=nearest'], /^--proxy-strategies=nearest .*; give/],
  ['an unknown TLS version', [...UNIX, '--tls-min-version=TLS1.2'], /^--tls-min-version=TLS1.2 .*; give/],
  ['an unknown cipher suite', [...UNIX, '--cipher-suites=RC4'], /^--cipher-suites=RC4 .*; the suites are/],
  ['a bad label', [...UNIX, '--lease-label=a b'], /^--lease-label=a b .*; write/],
  [
    'a negative graceful time-out',
    [...UNIX, '--graceful-shutdown-timeout=-1s'],
    /^--graceful-shutdown-timeout is negative .*; give/,
  ],
  [
    'a negative dial time-out',
    [...UNIX, '--backend-dial-timeout=-1s'],
    /^--backend-dial-timeout is negative .*; give/,
  ],
  ['an empty channel', [...UNIX, '--xfr-channel-size=0'], /^--xfr-channel-size=0 .*; /],
  ['an unknown flag', [...UNIX, '--frobnicate=1'], /^--frobnicate is an unknown flag; .*--help/],
  [
    'a flag of k0s: bind-address',
    [...UNIX, '--bind-address=::'],
    /^--bind-address is a flag of another distribution; k0s .*remove it/,
  ],
  [
    'a flag of k0s: apiserver-port-mapping',
    [...UNIX, '--apiserver-port-mapping=6443:1'],
    /^--apiserver-port-mapping .*; k0s .*remove it/,
  ],
  [
    'a flag of k0s: feature-gates',
    [...UNIX, '--feature-gates=A=true'],
    /^--feature-gates .*; k0s .*remove it/,
  ],
  ['a duration that is none', [...UNIX, '--keepalive-time=soon'], /^--keepalive-time=soon .*; /],
  ['a boolean that is none', [...UNIX, '--enable-profiling=perhaps'], /^--enable-profiling=perhaps .*; /],
  ['a --vmodule that cannot be read', [...UNIX, '--vmodule=dial'], /^--vmodule=dial .*; write/],
  ['a file that is no certificate', UNIX, /^--cluster-(cert|key)\S* .*some\.pem.*/],
  [
    'a log file that cannot be opened',
    [...UNIX, '--logtostderr=false', `--log-file=${directory}/no/x.log`],
    /^--log-file: cannot write .*ENOENT; give/,
  ],
];

const AGENT_CASES: typeof SERVE = [
  ['no CA', [], /^--ca-cert is empty.*; give/],
  ['a missing file', ['--ca-cert=/missing'], /^--ca-cert=\/missing .*; check/],
  [
    'a certificate without key',
    [...AGENT, `--agent-cert=${file}`],
    /^--agent-cert=\S+ is given without --agent-key; give/,
  ],
  [
    'a key without certificate',
    [...AGENT, `--agent-key=${file}`],
    /^--agent-key=\S+ is given without --agent-cert; give/,
  ],
  ['server port 0', [...AGENT, '--proxy-server-port=0'], /^--proxy-server-port=0 .*; choose/],
  ['a negative health port', [...AGENT, '--health-server-port=-1'], /^--health-server-port=-1 .*; choose/],
  ['admin port 0', [...AGENT, '--admin-server-port=0'], /^--admin-server-port=0 .*; choose/],
  [
    'an interval above its cap',
    [...AGENT, '--sync-interval=20s'],
    /^--sync-interval=20s is above --sync-interval-cap=10s; /,
  ],
  ['an empty channel', [...AGENT, '--xfr-channel-size=0'], /^--xfr-channel-size=0 .*; /],
  ['unknown identifiers', [...AGENT, '--agent-identifiers=zone=a'], /^--agent-identifiers=zone=a.*; write/],
  [
    'an unknown source of the server count',
    [...AGENT, '--server-count-source=least'],
    /^--server-count-source=least .*; give default or max/,
  ],
  [
    'contention profiles alone',
    [...AGENT, '--enable-contention-profiling'],
    /^--enable-contention-profiling=true .*; give --enable-profiling/,
  ],
  ['a bad selector', [...AGENT, '--lease-label-selector=a in ('], /^--lease-label-selector=.*; write/],
  [
    'a flag of the server',
    [...AGENT, '--server-count=3'],
    /^--server-count is a flag of konnectivity-ts serve; .*--help/,
  ],
  [
    'a flag of k0s: feature-gates',
    [...AGENT, '--feature-gates=A=true'],
    /^--feature-gates .*; k0s .*remove it/,
  ],
  ['a file that is no certificate', AGENT, /^--ca-cert\S* .*some\.pem.*/],
];

const PREFIX = 'konnectivity-ts: ';

/** Exit code 1, nothing on stdout, and on stderr that one line. */
function refuses(outcome: Outcome, line: RegExp): void {
  const { code, stdout, stderr } = outcome;
  assert.deepEqual([code, stdout], [1, ''], stderr);
  assert.match(stderr, /^[^\n]*\n$/);
  assert.ok(stderr.startsWith(PREFIX), stderr);
  assert.match(stderr.slice(PREFIX.length), line);
  assert.doesNotMatch(stderr, /\n\s+at |node:internal|Error:/);
}

after(() => {
  rmSync(directory, { recursive: true });
  pki.remove();
});

for (const [command, cases] of [
  ['serve', SERVE],
  ['agent', AGENT_CASES],
] as const) {
  describe(`the binary refuses at ${command}`, { concurrency: Math.min(4, availableParallelism()) }, () => {
    for (const [name, argv, line] of cases) {
      test(name, async () => refuses(await run([command, ...argv]), line));
    }
  });
}

describe('the binary', () => {
  let serve: string[];

  before(async () => {
    const ca = await pki.authority('test CA');
    const leaf = await pki.issue(ca, { commonName: 'server', dns: ['localhost'], ips: ['127.0.0.1'] });
    serve = [
      'serve',
      `--uds-name=${directory}/p.sock`,
      '--server-port=0',
      `--cluster-cert=${leaf.certFile}`,
      `--cluster-key=${leaf.keyFile}`,
    ];
  });

  test('refuses half-set token authentication with a line for each flag that is missing', async () => {
    const { code, stderr } = await run(['serve', ...UNIX, TOKENS[0] as string]);
    assert.equal(code, 1);
    const lines = stderr.trimEnd().split('\n');
    for (const name of ['agent-service-account', 'authentication-audience']) {
      assert.ok(
        lines.some((line) => line.startsWith(`${PREFIX}--${name} is empty while --agent-namespace=a`)),
        stderr,
      );
    }
  });

  test('refuses tokens together with a CA of agents', async () => {
    const { code, stderr } = await run(['serve', ...UNIX, ...TOKENS, `--cluster-ca-cert=${file}`]);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^konnectivity-ts: --cluster-ca-cert=\S+ is given together with --agent-namespace=a; /m,
    );
  });

  test('refuses everything that is wrong at once, a line each', async () => {
    const { code, stderr } = await run(['serve', ...UNIX, '--agent-port=1', '--xfr-channel-size=0']);
    assert.equal(code, 1);
    assert.equal(stderr.trimEnd().split('\n').length, 2);
  });

  test('refuses a port that is taken, with the flag and what to do', async () => {
    const [agent, admin, health] = [await freePort(), await freePort(), await freePort()];
    const taken = createServer().listen(health, '127.0.0.1');
    await once(taken, 'listening');
    try {
      const ports = [`--agent-port=${agent}`, `--admin-port=${admin}`, `--health-port=${health}`];
      const outcome = await run([
        ...serve,
        ...ports,
        '--agent-bind-address=127.0.0.1',
        '--health-bind-address=127.0.0.1',
      ]);
      refuses(
        outcome,
        new RegExp(`^--health-port: another process listens on 127\\.0\\.0\\.1:${health}; stop it`),
      );
    } finally {
      taken.close();
    }
  });
});
