import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { freePort } from '../../src/commands/demo/free-port.ts';
import { Pki } from '../peers/pki.ts';
import { until } from '../peers/sockets-left.ts';

const directory = mkdtempSync(join(tmpdir(), 'kts-admin-'));
const pki = new Pki();
const inDirectory = (name: string): string => join(directory, name);

describe('the binary refuses at serve', () => {
  let good: string[];
  let files: { certFile: string; keyFile: string };
  let caFile: string;
  let socket: Server;
  let taken: Server;
  let takenPort: number;

  before(async () => {
    const ca = await pki.authority('test CA');
    caFile = ca.certFile;
    files = await pki.issue(ca, { commonName: 'server', dns: ['localhost'], ips: ['127.0.0.1'] });
    writeFileSync(inDirectory('file'), 'no PEM\n');
    mkdirSync(inDirectory('a-directory'));
    socket = createServer().listen(inDirectory('live.sock'));
    await once(socket, 'listening');
    takenPort = await freePort();
    taken = createServer().listen(takenPort, '127.0.0.1');
    await once(taken, 'listening');
    const [agent, health, admin] = [await freePort(), await freePort(), await freePort()];
    good = [
      'serve',
      `--uds-name=${inDirectory('p.sock')}`,
      '--server-port=0',
      `--cluster-cert=${files.certFile}`,
      `--cluster-key=${files.keyFile}`,
      `--agent-port=${agent}`,
      `--health-port=${health}`,
      `--admin-port=${admin}`,
      '--agent-bind-address=127.0.0.1',
      '--health-bind-address=127.0.0.1',
      '--admin-bind-address=127.0.0.1',
    ];
  });
  after(() => {
    socket.close();
    taken.close();
    rmSync(directory, { recursive: true });
    pki.remove();
  });

  const grpc = (more: Partial<Record<'cert' | 'key' | 'ca-cert', string>> = {}): string[] =>
    Object.entries({ cert: files.certFile, key: files.keyFile, 'ca-cert': caFile, ...more }).map(
      ([name, file]) => `--admin-grpc-${name}=${file}`,
    );

  const cases: readonly (readonly [string, () => readonly string[], RegExp])[] = [
    [
      'an admin socket in a directory that is not there',
      () => [`--admin-socket=${inDirectory('no/admin.sock')}`],
      /^--admin-socket.*no\/admin\.sock.*; /,
    ],
    [
      'an admin socket on which somebody listens',
      () => [`--admin-socket=${inDirectory('live.sock')}`],
      /^--admin-socket.*live\.sock.*; /,
    ],
    [
      'an admin socket that is a file',
      () => [`--admin-socket=${inDirectory('file')}`],
      /^--admin-socket.*file.*; /,
    ],
    [
      'an admin socket with too long a path',
      () => [`--admin-socket=/${'s'.repeat(200)}`],
      /^--admin-socket.*107.*/,
    ],
    [
      'an admin port that is taken',
      () => [
        '--admin-socket=',
        `--admin-grpc-port=${takenPort}`,
        '--admin-grpc-bind-address=127.0.0.1',
        ...grpc(),
      ],
      /^--admin-grpc-port: another process listens on 127\.0\.0\.1:\d+; stop it/,
    ],
    [
      'an admin address that is not of this machine',
      () => ['--admin-socket=', '--admin-grpc-port=20001', '--admin-grpc-bind-address=192.0.2.1', ...grpc()],
      /^--admin-grpc-port: .*192\.0\.2\.1.*; /,
    ],
    [
      'an admin certificate that is none',
      () => ['--admin-grpc-port=20001', ...grpc({ cert: inDirectory('file') })],
      /^--admin-grpc-cert\S* .*file.*/,
    ],
    [
      'an admin CA that is none',
      () => ['--admin-grpc-port=20001', ...grpc({ 'ca-cert': inDirectory('file') })],
      /^--admin-grpc-ca-cert\S* .*file.*/,
    ],
    [
      'an admin certificate without a port',
      () => [`--admin-grpc-cert=${files.certFile}`],
      /^--admin-grpc-cert=\S+ is given without --admin-grpc-port; give/,
    ],
    [
      'an admin port without a CA',
      () => ['--admin-grpc-port=20001', ...grpc({ 'ca-cert': '' })],
      /^--admin-grpc-ca-cert is empty while --admin-grpc-port=20001 is given; give all three/,
    ],
    [
      'an audit log in a directory that is not there',
      () => [`--audit-log=${inDirectory('no/audit.jsonl')}`, `--admin-socket=${inDirectory('a.sock')}`],
      /^--audit-log.*no\/audit\.jsonl.*; /,
    ],
    [
      'an audit log of an admin API that is turned off',
      () => [`--audit-log=${inDirectory('audit.jsonl')}`, '--admin-socket='],
      /^--audit-log=\S+ is given while the admin API is turned off; give --admin-socket or/,
    ],
    [
      'an audit log that is a directory',
      () => [`--audit-log=${inDirectory('a-directory')}`, `--admin-socket=${inDirectory('a.sock')}`],
      /^--audit-log.*a-directory.*; /,
    ],
    [
      'a state directory that is a file',
      () => [`--state-dir=${inDirectory('file')}`, '--admin-socket='],
      /^.*state.*file.*; /,
    ],
    [
      'a state directory in one that is not there',
      () => [`--state-dir=${inDirectory('no/state')}`, '--admin-socket='],
      /^.*state.*no\/state.*; /,
    ],
  ];

  for (const [name, argv, line] of cases) {
    it(`${name}, with one line, and leaves nothing open`, async () => {
      const { code, stdout, stderr } = await run([...good, ...argv()]);
      assert.deepEqual([code, stdout], [1, ''], stderr);
      assert.match(stderr, /^konnectivity-ts: [^\n]*\n$/);
      assert.match(stderr.slice('konnectivity-ts: '.length), line);
      assert.deepEqual(
        readdirSync(directory).filter((entry) => /^(p|a)\.sock$/.test(entry)),
        [],
      );
    });
  }

  it('a state directory that another server uses', async () => {
    const state = inDirectory('state');
    const child = execFile(process.execPath, [
      'bin/konnectivity-ts.js',
      ...good,
      `--state-dir=${state}`,
      '--admin-socket=',
    ]);
    try {
      await until(() => existing(state).includes('lock'), 'the first server');
      const other = good.map((word) =>
        word.startsWith('--uds-name=') ? `--uds-name=${inDirectory('q.sock')}` : word,
      );
      const { code, stderr } = await run([...other, `--state-dir=${state}`, '--admin-socket=']);
      assert.equal(code, 1, stderr);
      assert.match(stderr, /^konnectivity-ts: .*state.*; [^\n]*\n$/);
    } finally {
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await exited;
    }
  });
});

function existing(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function run(argv: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['bin/konnectivity-ts.js', ...argv],
      { timeout: 60_000, env: { PATH: process.env.PATH } },
      (_error, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}
