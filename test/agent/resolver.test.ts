import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { connectDestination } from '../../src/proxy/agent/destination.ts';
import { parseHosts } from '../../src/proxy/agent/hosts-file.ts';
import { QuerySlots } from '../../src/proxy/agent/query-slots.ts';
import { parseResolvConf, searchNames } from '../../src/proxy/agent/resolv-conf.ts';
import { createResolver, type Resolver, type ResolverOptions } from '../../src/proxy/agent/resolver.ts';
import { Fault } from '../../src/proxy/ops/fault.ts';
import { type DnsServer, type DnsServerScript, startDnsServer } from '../peers/dns-server.ts';

const never = (): AbortSignal => new AbortController().signal;
const HOUR = 3_600_000;

let directory: string;
let dns: DnsServer;
let resolver: Resolver;
const toClose: { close(): unknown }[] = [];
/** The resolver's clock. */
let nowMs = 0;

async function set(script: DnsServerScript, options: ResolverOptions = {}): Promise<void> {
  dns = await startDnsServer(script);
  resolver = createResolver({
    servers: [dns.address],
    searchDomains: [],
    ndots: 1,
    hostsFile: join(directory, 'hosts'),
    resolvConf: join(directory, 'resolv.conf'),
    now: () => nowMs,
    ...options,
  });
  toClose.push(resolver, dns);
}

const addresses = async (name: string, signal = never()): Promise<string[]> =>
  (await resolver.resolve(name, signal)).map((each) => each.address);

beforeEach(() => {
  nowMs = 0;
  directory = mkdtempSync(join(tmpdir(), 'resolver-'));
});
afterEach(async () => {
  for (const each of toClose.splice(0)) await each.close();
  rmSync(directory, { recursive: true });
});

describe('a name', () => {
  test('has the addresses of both families, asked for at once', async () => {
    await set({ records: { 'a.test': ['127.0.0.5', 'fd00::5', '127.0.0.6'] } });
    assert.deepEqual(await resolver.resolve('A.test', never()), [
      { address: 'fd00::5', family: 6 },
      { address: '127.0.0.5', family: 4 },
      { address: '127.0.0.6', family: 4 },
    ]);
    assert.deepEqual([...dns.questions].sort(), ['a.test A', 'a.test AAAA']);
  });

  test('with one family does not wait for the one that the name server is silent about', async () => {
    await set(
      { records: { 'a.test': ['127.0.0.5'] }, silent: /AAAA/ },
      { familyDelayMs: 1, timeoutMs: HOUR },
    );
    assert.deepEqual(await addresses('a.test'), ['127.0.0.5']);
  });

  test('whose other family fails is answered', async () => {
    await set({ records: { 'a.test': ['127.0.0.5'] }, failing: /AAAA/ });
    assert.deepEqual(await addresses('a.test'), ['127.0.0.5']);
  });

  test('that does not exist is not found', async () => {
    await set({});
    await assert.rejects(addresses('gone.test'), {
      code: 'dns-not-found',
      message: `lookup gone.test on ${dns.address}: no such host`,
    });
  });

  test('without addresses is not found', async () => {
    await set({ records: { 'empty.test': [] } });
    await assert.rejects(addresses('empty.test'), { code: 'dns-not-found' });
  });

  test('whose name server fails is not called unknown', async () => {
    await set({ failing: /./ });
    await assert.rejects(addresses('a.test'), {
      code: 'dns-failed',
      message: `lookup a.test on ${dns.address}: server misbehaving (SERVFAIL)`,
    });
  });

  test('whose name server is silent ends with a time-out', async () => {
    await set({ silent: /./ }, { timeoutMs: 20 });
    await assert.rejects(addresses('a.test'), {
      code: 'dns-timeout',
      message: `lookup a.test on ${dns.address}: i/o timeout`,
    });
  });

  for (const odd of [
    'a b.test',
    'a..test',
    '.',
    '',
    'a\u0000.test',
    'ä.test',
    `${'x'.repeat(64)}.test`,
    '1.2.3.4/8',
  ]) {
    test(`written ${JSON.stringify(odd.slice(0, 12))} is asked of nobody`, async () => {
      await set({});
      await assert.rejects(addresses(odd), { code: 'dns-not-found' });
      assert.deepEqual(dns.questions, []);
    });
  }

  test('localhost, and what is below it, is this machine without a question', async () => {
    await set({});
    assert.deepEqual(await addresses('localhost'), ['::1', '127.0.0.1']);
    assert.deepEqual(await addresses('web.LOCALHOST.'), ['::1', '127.0.0.1']);
    assert.deepEqual(dns.questions, []);
  });
});

describe('silent name servers', () => {
  test('for 50 names delay neither another name nor an IP address', async () => {
    await set({ records: { 'good.test': ['127.0.0.1'] }, silent: /silent/ }, { timeoutMs: HOUR });
    const server = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const port = (server.address() as { port: number }).port;
    const cancel = Array.from({ length: 50 }, () => new AbortController());
    const dials = cancel.map(({ signal }, i) =>
      connectDestination(`n${i}.silent.test:80`, { resolver, signal, timeoutMs: HOUR }),
    );
    await dns.asked(/silent/, 100);
    for (const address of [`good.test:${port}`, `127.0.0.1:${port}`]) {
      const socket = await connectDestination(address, { resolver, signal: never() });
      socket.destroy();
    }
    for (const each of cancel) each.abort();
    const ends = await Promise.allSettled(dials);
    assert.ok(ends.every((end) => end.status === 'rejected' && end.reason.code === 'cancelled'));
    server.close();
  });

  test('that answered fast before are still asked until the time is over', async () => {
    await set(
      { records: { 'late.test': ['127.0.0.5'] }, silent: /late/ },
      { yieldAfterMs: HOUR, timeoutMs: HOUR },
    );
    // From these answers c-ares learns to expect the next one soon.
    await Promise.all(Array.from({ length: 30 }, (_, i) => assert.rejects(addresses(`n${i}.test`))));
    const late = addresses('late.test');
    // One more than c-ares asks by itself.
    await dns.asked(/late\.test A$/, 4);
    dns.script = { records: { 'late.test': ['127.0.0.5'] } };
    assert.deepEqual(await late, ['127.0.0.5']);
  });

  test('do not keep the slots when there are more silent names than slots', async () => {
    await set(
      { records: { 'good.test': ['127.0.0.1'] }, silent: /silent/ },
      { timeoutMs: HOUR, maxInFlight: 4, yieldAfterMs: 1 },
    );
    const ends = Array.from({ length: 50 }, (_, i) => assert.rejects(addresses(`n${i}.silent.test`)));
    assert.deepEqual(await addresses('good.test'), ['127.0.0.1']);
    resolver.close();
    await Promise.all(ends);
  });
});

describe('the search list', () => {
  test('comes first for a name with few dots', async () => {
    await set(
      { records: { 'api.default.svc.cluster.test': ['127.0.0.5'] } },
      { searchDomains: ['ns.svc.cluster.test', 'svc.cluster.test'], ndots: 5 },
    );
    assert.deepEqual(await addresses('api.default'), ['127.0.0.5']);
    const asked = [...new Set(dns.questions.map((question) => question.split(' ')[0]))];
    assert.deepEqual(asked, ['api.default.ns.svc.cluster.test', 'api.default.svc.cluster.test']);
  });

  test('is left out for a name with a dot at its end', async () => {
    await set({ records: { 'api.default': ['127.0.0.5'] } }, { searchDomains: ['cluster.test'], ndots: 5 });
    assert.deepEqual(await addresses('api.default.'), ['127.0.0.5']);
    assert.deepEqual([...dns.questions].sort(), ['api.default A', 'api.default AAAA']);
  });

  test('goes on after a name that fails, and reports the failure when no name exists', async () => {
    await set(
      { records: { 'api.two.test': ['127.0.0.5'] }, failing: /\.one\.test/ },
      { searchDomains: ['one.test', 'two.test'], ndots: 5 },
    );
    assert.deepEqual(await addresses('api'), ['127.0.0.5']);
    await assert.rejects(addresses('web'), { code: 'dns-failed' });
  });

  test('orders names as ndots says', () => {
    assert.deepEqual(searchNames('a.b', ['x', 'y'], 2), ['a.b.x', 'a.b.y', 'a.b']);
    assert.deepEqual(searchNames('a.b', ['x', 'y'], 1), ['a.b', 'a.b.x', 'a.b.y']);
    assert.deepEqual(searchNames('a.b.', ['x'], 5), ['a.b']);
    assert.deepEqual(searchNames('a', [`${'x.'.repeat(126)}x`], 1), ['a']);
  });

  test('and ndots come from resolv.conf, as do the name servers', () => {
    const text = [
      '# comment',
      'nameserver 10.96.0.10 ; cluster',
      'nameserver fd00::a',
      'nameserver fe80::1%eth0',
      'nameserver nonsense',
      'search old.test',
      'search ns.svc.cluster.local. svc.cluster.local bad/domain .',
      'options edns0 ndots:5 ndots:x ndots:-1',
      'options',
      '\u0000\u0001 garbage',
    ].join('\r\n');
    assert.deepEqual(parseResolvConf(text), {
      servers: ['10.96.0.10:53', '[fd00::a]:53'],
      searchDomains: ['ns.svc.cluster.local', 'svc.cluster.local'],
      ndots: 5,
    });
  });

  test('is empty for a resolv.conf of garbage, and the name server is the one of this machine', () => {
    assert.deepEqual(parseResolvConf('\u0000'.repeat(1000)), {
      servers: ['127.0.0.1:53'],
      searchDomains: [],
      ndots: 1,
    });
  });

  test('is read from the file that the resolver was given', async () => {
    dns = await startDnsServer({ records: { 'api.cluster.test': ['127.0.0.5'] } });
    writeFileSync(join(directory, 'resolv.conf'), 'search cluster.test\noptions ndots:3\n');
    resolver = createResolver({
      servers: [dns.address],
      hostsFile: join(directory, 'hosts'),
      resolvConf: join(directory, 'resolv.conf'),
    });
    toClose.push(resolver, dns);
    assert.deepEqual(await addresses('api'), ['127.0.0.5']);
  });
});

describe('the hosts file', () => {
  const write = (text: string): void => writeFileSync(join(directory, 'hosts'), text);

  test('goes before the name servers, whatever the case', async () => {
    write('127.0.0.7 Web.test web # first\n::1 web.test\n');
    await set({});
    assert.deepEqual(await addresses('WEB.test'), ['127.0.0.7', '::1']);
    assert.deepEqual(await addresses('web.test.'), ['127.0.0.7', '::1']);
    assert.deepEqual(dns.questions, []);
  });

  test('says what localhost is', async () => {
    write('127.0.0.8 localhost\n');
    await set({});
    assert.deepEqual(await addresses('localhost'), ['127.0.0.8']);
  });

  test('is read again after a change, but not looked at for every name', async () => {
    write('127.0.0.7 web.test\n');
    await set({});
    assert.deepEqual(await addresses('web.test'), ['127.0.0.7']);
    write('127.0.0.17 web.test\n');
    assert.deepEqual(await addresses('web.test'), ['127.0.0.7']);
    nowMs += 5_000;
    assert.deepEqual(await addresses('web.test'), ['127.0.0.17']);
    rmSync(join(directory, 'hosts'));
    nowMs += 5_000;
    await assert.rejects(addresses('web.test'), { code: 'dns-not-found' });
  });

  test('that cannot be read changes nothing', async () => {
    mkdirSync(join(directory, 'hosts'));
    await set({ records: { 'a.test': ['127.0.0.5'] } });
    assert.deepEqual(await addresses('a.test'), ['127.0.0.5']);
  });

  test('with garbage in it gives what makes sense', () => {
    const text =
      '\uFEFF\u0000\n127.0.0.1\n999.1.1.1 bad\nname 127.0.0.1\n\t127.0.0.7\tweb __proto__ web\r\n#127.0.0.8 web';
    assert.deepEqual(
      [...parseHosts(text)],
      [
        ['web', [{ address: '127.0.0.7', family: 4 }]],
        ['__proto__', [{ address: '127.0.0.7', family: 4 }]],
      ],
    );
  });
});

describe('an answer', () => {
  test('is kept until its time to live is over', async () => {
    await set({ records: { 'a.test': ['127.0.0.5'] }, ttlSeconds: 10 });
    await addresses('a.test');
    nowMs = 9_999;
    await addresses('a.test');
    assert.equal(dns.questions.length, 2);
    dns.script = { records: { 'a.test': ['127.0.0.6'] } };
    nowMs = 10_000;
    assert.deepEqual(await addresses('a.test'), ['127.0.0.6']);
    assert.equal(dns.questions.length, 4);
  });

  test('is kept for 30 s at most', async () => {
    await set({ records: { 'a.test': ['127.0.0.5'] }, ttlSeconds: 86_400 });
    await addresses('a.test');
    nowMs = 30_000;
    await addresses('a.test');
    assert.equal(dns.questions.length, 4);
  });

  test('that a name does not exist is kept for a second', async () => {
    await set({});
    await assert.rejects(addresses('a.test'));
    nowMs = 999;
    await assert.rejects(addresses('a.test'), { code: 'dns-not-found' });
    assert.equal(dns.questions.length, 2);
    nowMs = 1_000;
    await assert.rejects(addresses('a.test'));
    assert.equal(dns.questions.length, 4);
  });

  test('of a failing name server is not kept', async () => {
    await set({ failing: /./ });
    await assert.rejects(addresses('a.test'), { code: 'dns-failed' });
    dns.script = { records: { 'a.test': ['127.0.0.5'] } };
    assert.deepEqual(await addresses('a.test'), ['127.0.0.5']);
  });

  test('that was least recently used leaves a full cache', async () => {
    await set(
      { records: { 'a.test': ['127.0.0.1'], 'b.test': ['127.0.0.2'], 'c.test': ['127.0.0.3'] } },
      { maxCacheEntries: 2 },
    );
    for (const name of ['a.test', 'b.test', 'a.test', 'c.test', 'a.test']) await addresses(name);
    assert.equal(dns.questions.filter((question) => question === 'a.test A').length, 1);
    await addresses('b.test');
    assert.equal(dns.questions.filter((question) => question === 'b.test A').length, 2);
  });
});

describe('look-ups of one name at the same time', () => {
  test('ask once', async () => {
    await set({ records: { 'a.test': ['127.0.0.5'] }, ttlSeconds: 0 });
    const all = await Promise.all(Array.from({ length: 20 }, () => addresses('a.test')));
    assert.ok(all.every((each) => each[0] === '127.0.0.5'));
    assert.equal(dns.questions.length, 2);
  });

  test('end one by one when they are cancelled', async () => {
    // The silence makes c-ares ask again, and that is answered.
    await set({ silent: /./ }, { timeoutMs: 5_000 });
    const cancel = new AbortController();
    const first = addresses('a.test', cancel.signal);
    const second = addresses('a.test');
    await dns.asked(/a\.test/, 2);
    cancel.abort();
    await assert.rejects(first, { code: 'cancelled' });
    dns.script = { records: { 'a.test': ['127.0.0.5'] } };
    assert.deepEqual(await second, ['127.0.0.5']);
  });

  test('leave nothing to join when all of them were cancelled', async () => {
    await set({ silent: /./ }, { timeoutMs: HOUR });
    const cancel = new AbortController();
    const first = assert.rejects(addresses('a.test', cancel.signal), { code: 'cancelled' });
    await dns.asked(/a\.test/, 2);
    cancel.abort();
    dns.script = { records: { 'a.test': ['127.0.0.5'] } };
    assert.deepEqual(await addresses('a.test'), ['127.0.0.5']);
    await first;
  });
});

describe('a closed resolver', () => {
  test('ends what waits and takes nothing new', async () => {
    await set({ silent: /./ }, { timeoutMs: HOUR });
    const waiting = addresses('a.test');
    resolver.close();
    await assert.rejects(waiting, { code: 'cancelled' });
    await assert.rejects(addresses('a.test'), { code: 'cancelled' });
  });
});

describe('query slots', () => {
  const pending = (): Promise<never> => new Promise(() => {});

  test('run so many at once, the rest in order, and no more than may wait', async () => {
    const slots = new QuerySlots({ max: 2, maxWaiting: 2, yieldAfterMs: HOUR });
    const cancels = Array.from({ length: 4 }, () => new AbortController());
    const started: number[] = [];
    const ends = cancels.map(({ signal }, i) =>
      assert.rejects(
        slots.run(() => {
          started.push(i);
          return pending();
        }, signal),
      ),
    );
    assert.deepEqual([started, slots.running, slots.waiting], [[0, 1], 2, 2]);
    await assert.rejects(slots.run(pending, never()), { code: 'dns-failed' });
    cancels[1]!.abort();
    assert.deepEqual([started, slots.running, slots.waiting], [[0, 1, 2], 2, 1]);
    for (const each of cancels) each.abort();
    await Promise.all(ends);
    assert.deepEqual([slots.running, slots.waiting], [0, 0]);
  });

  test('are given up by the oldest query for those that wait', async () => {
    const slots = new QuerySlots({ max: 1, maxWaiting: 1, yieldAfterMs: 1 });
    const oldest = slots.run(pending, never());
    const next = slots.run(async () => 'answer', never());
    await assert.rejects(oldest, (error) => error instanceof Fault && error.code === 'dns-timeout');
    assert.equal(await next, 'answer');
  });

  test('are kept by a slow query while nobody waits', async () => {
    const slots = new QuerySlots({ max: 1, maxWaiting: 1, yieldAfterMs: 0 });
    let answer: (text: string) => void = () => {};
    const slow = slots.run(() => new Promise<string>((resolve) => (answer = resolve)), never());
    await new Promise(setImmediate);
    answer('late');
    assert.equal(await slow, 'late');
  });
});
