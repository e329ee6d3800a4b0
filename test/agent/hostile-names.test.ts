import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { connectDestination } from '../../src/proxy/agent/destination.ts';
import { createResolver, type Resolver, type ResolverOptions } from '../../src/proxy/agent/resolver.ts';
import { type DnsServer, type DnsServerScript, startDnsServer } from '../peers/dns-server.ts';

const GOOD = { 'good.test': ['127.0.0.5'], 'bad.test': ['127.0.0.6'] };
const TRUNCATED = 0x0200;
const CNAME = 5;

let directory: string;
let dns: DnsServer;
let resolver: Resolver;
let nowMs = 0;

async function set(script: DnsServerScript, options: ResolverOptions = {}): Promise<void> {
  dns = await startDnsServer(script);
  resolver = createResolver({
    servers: [dns.address],
    searchDomains: [],
    ndots: 1,
    hostsFile: join(directory, 'hosts'),
    // No test waits for it.
    timeoutMs: 60_000,
    now: () => nowMs,
    ...options,
  });
}

const never = (): AbortSignal => new AbortController().signal;
const addresses = async (name: string): Promise<string[]> =>
  (await resolver.resolve(name, never())).map((each) => each.address);

/** What is sent instead of answers about bad.test; all others are honest. */
const lies =
  (lie: (answer: Buffer) => readonly Buffer[]): NonNullable<DnsServerScript['instead']> =>
  (answer, question) =>
    question.startsWith('bad') ? lie(answer) : [answer];

/** bad.test is never resolved, and its failure is told in a line; good.test is resolved meanwhile. */
async function failsAlone(lied: () => Promise<void> = () => dns.asked(/^bad/, 2)): Promise<void> {
  const giveUp = new AbortController();
  const bad = assert.rejects(resolver.resolve('bad.test', giveUp.signal), ({ code, message }) => {
    assert.match(code, /^(dns-not-found|dns-failed|cancelled)$/);
    assert.ok(message.length < 300, message);
    return true;
  });
  await Promise.race([bad, lied()]);
  assert.deepEqual(await addresses('good.test'), ['127.0.0.5']);
  giveUp.abort();
  await bad;
}

/** The head and the question of an answer, with that many records announced. */
function headOf(answer: Buffer, records: number): Buffer {
  const end = answer.indexOf(0, 12) + 5;
  const head = Buffer.from(answer.subarray(0, end));
  head.writeUInt16BE(records, 6);
  return head;
}

function flagged(answer: Buffer, flags: number): Buffer {
  const head = headOf(answer, 0);
  head.writeUInt16BE(head.readUInt16BE(2) | flags, 2);
  return head;
}

function name(text: string): Buffer {
  const labels = text.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

function record(owner: Buffer, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(60, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, fixed, data]);
}

function thousands(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `127.1.${i >> 8}.${i & 255}`);
}

beforeEach(() => {
  nowMs = 0;
  directory = mkdtempSync(join(tmpdir(), 'hostile-'));
});
afterEach(async () => {
  resolver.close();
  await dns.close();
  rmSync(directory, { recursive: true });
});

describe('a name server', { timeout: 20_000 }, () => {
  const packets: Record<string, (answer: Buffer) => readonly Buffer[]> = {
    'of nothing': () => [Buffer.alloc(0)],
    'of a byte': () => [Buffer.from([7])],
    'of zeros': () => [Buffer.alloc(512)],
    'of 60,000 random bytes': () => [randomBytes(60_000)],
    'that announces records which do not come': (answer) => [headOf(answer, 65_535)],
    'that is cut within a record': (answer) => [answer.subarray(0, -3)],
    'of a name that points at itself': (answer) => [
      Buffer.concat([
        headOf(answer, 1),
        record(Buffer.from([0xc0, answer.indexOf(0, 12) + 5]), 1, Buffer.from([127, 0, 0, 9])),
      ]),
    ],
    'of an alias of itself': (answer) => [
      Buffer.concat([headOf(answer, 1), record(name('bad.test'), CNAME, name('bad.test'))]),
    ],
    'of aliases in a circle': (answer) => [
      Buffer.concat([
        headOf(answer, 2),
        record(name('bad.test'), CNAME, name('worse.test')),
        record(name('worse.test'), CNAME, name('bad.test')),
      ]),
    ],
    'of a thousand aliases without an end': (answer) => [
      Buffer.concat([
        headOf(answer, 1000),
        ...Array.from({ length: 1000 }, (_, i) =>
          record(name(i === 0 ? 'bad.test' : `n${i}.test`), CNAME, name(`n${i + 1}.test`)),
        ),
      ]),
    ],
    'of an address of three bytes': (answer) => [
      Buffer.concat([headOf(answer, 1), record(name('bad.test'), 1, Buffer.from([127, 0, 0]))]),
    ],
    'with an error that no standard knows': (answer) => [flagged(answer, 0x000f)],
    'with another ID': (answer) => {
      const other = Buffer.from(answer);
      other.writeUInt16BE(other.readUInt16BE(0) ^ 1, 0);
      return [other];
    },
    'a hundred times, each with another ID': (answer) =>
      Array.from({ length: 100 }, (_, i) => {
        const other = Buffer.from(answer);
        other.writeUInt16BE(other.readUInt16BE(0) ^ (i + 1), 0);
        return other;
      }),
    'that is cut, and no connection is taken for the rest': (answer) => [flagged(answer, TRUNCATED)],
  };
  for (const [what, lie] of Object.entries(packets)) {
    test(`that sends an answer ${what} fails for that name alone`, async () => {
      await set({ records: GOOD, instead: lies(lie) });
      await failsAlone();
    });
  }

  test('is believed when its answer comes behind forged ones', async () => {
    await set({
      records: GOOD,
      instead: (answer) => {
        const forged = Buffer.from(answer);
        forged.writeUInt16BE(forged.readUInt16BE(0) ^ 0x5555, 0);
        forged[forged.length - 1] = 66;
        return [forged, forged, answer];
      },
    });
    assert.deepEqual(await addresses('good.test'), ['127.0.0.5']);
  });

  test('that changes bytes at random never breaks the process', async () => {
    await set(
      {
        records: { 'bad.test': ['127.0.0.6', '127.0.0.7', 'fd00::1'] },
        instead: (answer) => {
          const changed = Buffer.from(answer);
          // Not the ID: such an answer is not looked at.
          for (const byte of randomBytes(3)) changed[2 + (byte % (changed.length - 2))] = randomBytes(1)[0]!;
          return [changed];
        },
      },
      { timeoutMs: 50 },
    );
    for (let round = 0; round < 20; round++) {
      const asked = Array.from({ length: 25 }, () => resolver.resolve('bad.test', never()).catch(() => []));
      for (const found of await Promise.all(asked)) {
        for (const { address } of found) assert.match(address, /^[0-9a-f.:]+$/);
      }
      nowMs += 60_000;
    }
  });
});

describe('a name server whose answer is cut', { timeout: 20_000 }, () => {
  const cut = lies((answer) => [flagged(answer, TRUNCATED)]);
  const connections: Record<string, NonNullable<DnsServerScript['onConnection']>> = {
    'says nothing': () => {},
    'closes the connection': (socket) => socket.end(),
    'sends half a length': (socket) => socket.write(Buffer.from([255])),
    'announces 65,535 bytes and sends ten': (socket) =>
      socket.write(Buffer.concat([Buffer.from([255, 255]), Buffer.alloc(10)])),
    'sends garbage without an end': (socket) => {
      const more = (): void => {
        while (!socket.destroyed && socket.write(randomBytes(16_384)));
      };
      socket.on('drain', more);
      more();
    },
  };
  for (const [what, onConnection] of Object.entries(connections)) {
    test(`and then ${what} fails for that name alone`, async () => {
      await set({ records: GOOD, instead: cut, onConnection });
      const before = process.memoryUsage.rss();
      await failsAlone(() => dns.connected());
      assert.ok(process.memoryUsage.rss() - before < 64 * 1024 * 1024);
      resolver.close();
      await dns.disconnected();
    });
  }

  test('is asked again by TCP, and the whole answer counts', async () => {
    await set({
      records: GOOD,
      instead: (answer) => [flagged(answer, TRUNCATED)],
      onConnection: answerByTcp,
    });
    assert.deepEqual(await addresses('good.test'), ['127.0.0.5']);
  });
});

describe('a name with thousands of addresses', { timeout: 20_000 }, () => {
  const many = { records: { 'many.test': thousands(4_000) }, ttlSeconds: 10 };

  test('is known by some of them, for as long as they hold', async () => {
    await set(many);
    assert.deepEqual(await addresses('many.test'), thousands(32));
    const asked = dns.questions.length;
    nowMs = 9_999;
    await addresses('many.test');
    assert.equal(dns.questions.length, asked);
    dns.script = { records: { 'many.test': ['127.0.0.6'] } };
    nowMs = 10_000;
    assert.deepEqual(await addresses('many.test'), ['127.0.0.6']);
  });

  test('is refused with one line when none of them answers', async () => {
    await set(many);
    const unused = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => unused.once('listening', resolve));
    const { port } = unused.address() as { port: number };
    await new Promise((resolve) => unused.close(resolve));
    await assert.rejects(connectDestination(`many.test:${port}`, { resolver, signal: never() }), {
      code: 'refused',
      message: `dial tcp 127.1.0.0:${port}: connect: connection refused (many.test, 32 addresses)`,
    });
  });
});

const answerByTcp: NonNullable<DnsServerScript['onConnection']> = (socket, answer) => {
  socket.on('data', (chunk) => {
    for (let at = 0; at + 2 <= chunk.length; ) {
      const bytes = chunk.readUInt16BE(at);
      const whole = answer(chunk.subarray(at + 2, at + 2 + bytes));
      const length = Buffer.alloc(2);
      length.writeUInt16BE(whole.length);
      socket.write(Buffer.concat([length, whole]));
      at += 2 + bytes;
    }
  });
};
