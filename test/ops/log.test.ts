import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { klogLine, type LogEntry } from '../../src/proxy/ops/klog-format.ts';
import { createLog, type LogOptions } from '../../src/proxy/ops/log.ts';
import { parseVmodule } from '../../src/proxy/ops/vmodule.ts';

const entry: LogEntry = {
  severity: 'info',
  at: new Date(2026, 10, 3, 4, 5, 6, 78),
  pid: 4711,
  file: 'backends.ts',
  line: 112,
  verbosity: 1,
  message: 'Agent connected',
  fields: { agentID: 'a', tunnels: 3 },
};

function printed(options: Partial<LogOptions>, run: (log: ReturnType<typeof createLog>) => void): string[] {
  const lines: string[] = [];
  run(createLog({ verbosity: 2, write: (line) => lines.push(line), ...options }));
  return lines;
}

it('a line begins like those of klog: severity, date, time, padded process ID, file and line', () => {
  const rest = '1103 04:05:06.078000    4711 backends.ts:112] "Agent connected" agentID="a" tunnels=3\n';
  assert.equal(klogLine(entry, true), `I${rest}`);
  assert.equal(klogLine({ ...entry, severity: 'warning' }, true), `W${rest}`);
  assert.equal(klogLine({ ...entry, severity: 'error' }, true), `E${rest}`);
});

it('texts are quoted as klog quotes them', () => {
  // What klog.InfoS of k8s.io/klog/v2 printed for the same values.
  const expected = String.raw`"a \"b\" \\ c\nd" s="q\"\\\t\a\b\f\v\r\x00\x1b[31m\x7f" u="grüß 日本 \u00a0\u00ad\u200e\u2028\ufeff 😀 é \U000e0001" n=42 b=true f=1.5 big=9007199254740993 e=""`;
  const fields = {
    s: 'q"\\\t\u0007\b\f\v\r\u0000\u001b[31m\u007f',
    u: 'grüß 日本 \u00a0\u00ad\u200e\u2028\ufeff 😀 e\u0301 \u{e0001}',
    n: 42,
    b: true,
    f: 1.5,
    big: 9007199254740993n,
    e: '',
  };
  const line = klogLine({ ...entry, message: 'a "b" \\ c\nd', fields }, false);
  assert.equal(line.normalize('NFC'), `${expected}\n`.normalize('NFC'));
});

it('a value that a peer chose stays on its line and is cut', () => {
  const [line = ''] = printed({}, (log) => {
    log.warning('Refused', {
      agentID: `x\n${'I1103 04:05:06.078000 1 a.ts:1] "fake"'}\u001b[2J${'y'.repeat(100_000)}`,
    });
  });
  assert.equal(line.split('\n').length, 2);
  assert.ok(line.length < 1_000, String(line.length));
  assert.match(line, /…"\n$/);
  assert.ok(!line.includes('\u001b'));
});

it('what looks like a credential is never printed', () => {
  const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJlLXNlY3JldA';
  const secrets = [
    `Authorization: Bearer ${jwt}`,
    jwt,
    'bearer s3cr3t-opaque-token',
    'https://user:s3cr3tpass@proxy.example:8080/x',
    `-----BEGIN EC PRIVATE KEY-----\ns3cr3t${'A'.repeat(300)}\n-----END EC PRIVATE KEY-----`,
    `-----BEGIN CERTIFICATE-----\ns3cr3t${'A'.repeat(3000)}`,
    'password=s3cr3tpass',
    'token: "s3cr3t-value"',
  ];
  for (const secret of secrets) {
    for (const format of ['text', 'json'] as const) {
      const text = printed({ format }, (log) => log.error(`it said ${secret}`, { reason: secret })).join('');
      assert.doesNotMatch(text, /s3cr3t|c2lnbmF0dXJl|AAAA/, text);
      assert.match(text, /removed/);
    }
  }
});

it('ordinary texts are printed as they are', () => {
  const text =
    'token authentication is on; https://10.0.0.1:6443/api?x=1@2, secretary, agent@node, bearer of news';
  assert.ok(printed({}, (log) => log.info(1, text))[0]?.includes(text));
});

it('info lines are printed up to the verbosity, warnings and errors always', () => {
  const lines = printed({ verbosity: 0 }, (log) => {
    log.info(1, 'one');
    log.info(0, 'zero');
    log.warning('warned');
    log.error('failed');
  });
  assert.deepEqual(
    lines.map((line) => line.replace(/^(.).*\] /, '$1 ')),
    ['I "zero"\n', 'W "warned"\n', 'E "failed"\n'],
  );
});

it('--vmodule raises the verbosity of the files that it names, and of no other', () => {
  const modules = parseVmodule('dial*=5,backends=3,dial-desk=1');
  assert.ok(Array.isArray(modules));
  const lines = printed({ verbosity: 0, modules }, (log) => {
    log.named('dial-desk').info(5, 'desk');
    log.named('backends').info(3, 'backends');
    log.named('backends').info(4, 'too much');
    log.named('tunnel').info(1, 'other');
    assert.equal(log.named('dial').enabled(5), true);
    assert.equal(log.named('tunnel').enabled(1), false);
  });
  assert.deepEqual(
    lines.map((line) => line.slice(line.indexOf('"'))),
    ['"desk"\n', '"backends"\n'],
  );
});

it('a line names the line of the source file that it came from', () => {
  const here = Number(/log\.test\.ts:(\d+)/.exec(new Error().stack ?? '')?.[1]);
  const [line] = printed({ addFolder: true }, (log) => log.named('log.test').info(0, 'here'));
  assert.match(line ?? '', new RegExp(` ops/log\\.test\\.ts:${here + 1}\\] "here"`));
});

it('every name that a log is given is that of a source file', () => {
  const files = readdirSync('src', { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.ts'));
  const names = files.flatMap((file) =>
    [...readFileSync(`src/${file}`, 'utf8').matchAll(/\.named\('([^']+)'\)/g)].map((match) => match[1]),
  );
  assert.ok(names.length > 5);
  for (const name of names)
    assert.ok(
      files.some((file) => file.endsWith(`/${name}.ts`)),
      name,
    );
});

it('--skip-headers leaves the message', () => {
  assert.deepEqual(
    printed({ skipHeaders: true }, (log) => log.info(0, 'hello', { n: 1 })),
    ['"hello" n=1\n'],
  );
});

it('a JSON line has the keys of Kubernetes and a level', () => {
  const at = new Date(1_700_000_000_123);
  const lines = printed({ format: 'json', now: () => at }, (log) => {
    log.info(1, 'Tunnel "closed"', { dialID: 2n ** 62n, reason: undefined, bytes: 5 });
    log.warning('w');
  });
  const [first, second] = lines.map((line) => JSON.parse(line));
  assert.match(first.caller, /^log-setup\.ts:\d+$/);
  assert.deepEqual(first, {
    ts: 1_700_000_000_123,
    caller: first.caller,
    level: 'info',
    msg: 'Tunnel "closed"',
    v: 1,
    dialID: '4611686018427387904',
    bytes: 5,
  });
  assert.equal(second.level, 'warning');
  assert.equal(second.v, undefined);
});
