import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { Fault } from '../../src/proxy/ops/fault.ts';
import { formatOrders } from '../../src/proxy/server/drain/order-file.ts';
import { TestServer } from '../peers/test-server.ts';

let directory: string;
const running: TestServer[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kts-state-'));
});
afterEach(async () => {
  for (const one of running.splice(0)) await one.close();
  rmSync(directory, { recursive: true, force: true });
});

async function start(): Promise<TestServer> {
  const server = await TestServer.start({ stateDirectory: directory });
  running.push(server);
  return server;
}

const refused = (text: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Fault, String(error));
  assert.equal(error.code, 'state-directory');
  assert.match(error.line, text);
  return true;
};

const file = (): string => join(directory, 'orders.json');

const good = {
  id: 'order1',
  agentId: 'a',
  version: 1,
  actor: 'alice',
  actorClaimed: false,
  reason: '',
  sinceUnixMs: 1,
  atDeadline: 'keep',
  until: 'undrain',
  overdue: false,
} as const;

describe('a state directory', () => {
  it('is one server\u2019s: a second one is refused, until the first has ended', async () => {
    const first = await start();
    await assert.rejects(start(), refused(/in use by another server; give each server a directory/));
    await first.close();
    running.splice(0);
    assert.deepEqual(readdirSync(directory), ['orders.json']);
    await start();
  });

  it('is taken over from a server that was killed', async () => {
    const script = `require('net').createServer().listen(${JSON.stringify(join(directory, 'lock'))}, () => process.kill(process.pid, 'SIGKILL'))`;
    assert.throws(() => execFileSync(process.execPath, ['-e', script], { stdio: 'ignore' }));
    await start();
  });

  it('with a FIFO in place of the file is refused, and does not hang the start', async () => {
    execFileSync('mkfifo', [file()]);
    await assert.rejects(start(), refused(/no regular file/));
  });

  it('with a directory in place of the file is refused', async () => {
    mkdirSync(file());
    await assert.rejects(start(), refused(/no regular file/));
  });

  it('with a file that no server can have written is refused unread', async () => {
    writeFileSync(file(), '');
    truncateSync(file(), 1024 ** 3);
    await assert.rejects(start(), refused(/larger than 256 MiB/));
  });

  it('is written without following a link that lies where the next file is made', async () => {
    const elsewhere = join(directory, 'precious');
    writeFileSync(elsewhere, 'keep me');
    symlinkSync(elsewhere, `${file()}.new`);
    await start();
    assert.equal(readFileSync(elsewhere, 'utf8'), 'keep me');
  });

  const kept = (more: object, ...others: object[]): string =>
    formatOrders({ orders: [{ ...good, ...more }, ...others] as never, ended: [] });
  const contents: Record<string, string> = {
    'JSON that is too deep': '['.repeat(1_000_000),
    'an ID that agents do not take': kept({ id: 'no id' }),
    'an ID of a megabyte': kept({ id: 'x'.repeat(1_000_000) }),
    'a version of one and a half': kept({ version: 1.5 }),
    'version 0': kept({ version: 0 }),
    'a reason of a megabyte': kept({ reason: 'x'.repeat(1_000_000) }),
    'two orders of one agent': kept({}, { ...good, id: 'order2' }),
    'an order until restart of nobody': kept({ until: 'restart' }),
    'no agent': kept({ agentId: '' }),
    'a time that is none': kept({ deadlineUnixMs: -1 }),
    'too many orders': kept({}, ...Array.from({ length: 10_001 }, (_, i) => ({ ...good, agentId: `${i}` }))),
  };
  for (const [what, text] of Object.entries(contents)) {
    it(`with ${what} is begun anew, and the file set aside`, async () => {
      writeFileSync(file(), text);
      const { server, lines } = await start();
      assert.deepEqual(server.drain.orders(), []);
      assert.ok(readdirSync(directory).some((name) => name.startsWith('orders.json.damaged-')));
      assert.ok(lines.all.some((line) => line.startsWith('E') && line.includes('cannot be read')));
    });
  }

  it('with a deadline at the end of time is taken as it is', async () => {
    writeFileSync(file(), kept({ deadlineUnixMs: 8.64e15 }));
    const { server } = await start();
    assert.equal(server.drain.orderOf('a')?.overdue, false);
  });
});
