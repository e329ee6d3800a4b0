import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Fault } from '../../src/proxy/ops/fault.ts';
import { listenUnix, type UnixListenerOptions } from '../../src/proxy/ops/listen-unix.ts';
import { silentLog } from '../../src/proxy/ops/log.ts';
import { checkUnixPath } from '../../src/proxy/ops/unix-path.ts';

const root = mkdtempSync(join(tmpdir(), 'kts-unix-'));
after(() => rmSync(root, { recursive: true, force: true }));
let count = 0;

/** A path in a new directory, so that what else lies in it can be asserted. */
function freshPath(): { directory: string; path: string } {
  const directory = join(root, String(count++));
  mkdirSync(directory);
  return { directory, path: join(directory, 'x.sock') };
}

function listen(path: string, more: Partial<UnixListenerOptions> = {}) {
  const onConnection = (socket: Socket): void => {
    socket.end('ours');
  };
  return listenUnix({ path, label: '--uds-name', log: silentLog, onConnection, ...more });
}

/** Everything that the server at `path` says until it ends. */
async function ask(path: string): Promise<string> {
  const socket = connect({ path });
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

function refusal(code: string, text: RegExp) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof Fault, String(error));
    assert.equal(error.code, code);
    assert.match(error.line, text);
    return true;
  };
}

/** A socket file left by a process that was killed. */
async function leaveStale(path: string): Promise<void> {
  const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 9))`;
  await once(spawn(process.execPath, ['-e', script]), 'exit');
  assert.ok(lstatSync(path).isSocket());
}

async function foreign(path: string): Promise<Server> {
  const server = createServer((socket) => {
    // Looking whether somebody lives here hangs up at once.
    socket.on('error', () => {});
    socket.end('theirs');
  });
  server.listen(path);
  await once(server, 'listening');
  return server;
}

test('a Unix socket is made with the mode of umask 0007, answers, and is gone after close', async () => {
  const { directory, path } = freshPath();
  const listener = await listen(path);
  assert.equal(listener.address, path);
  assert.equal(lstatSync(path).mode & 0o777, 0o770);
  assert.deepEqual(readdirSync(directory), ['x.sock']);
  assert.equal(await ask(path), 'ours');
  await listener.close();
  assert.deepEqual(readdirSync(directory), []);
});

test('another umask is applied to the socket alone', async () => {
  const before = process.umask();
  const { path } = freshPath();
  const listener = await listen(path, { umask: 0o177 });
  assert.equal(lstatSync(path).mode & 0o777, 0o600);
  assert.equal(process.umask(), before);
  await listener.close();
});

test('the socket of a killed process is replaced', async () => {
  const { directory, path } = freshPath();
  await leaveStale(path);
  const listener = await listen(path);
  assert.equal(await ask(path), 'ours');
  assert.deepEqual(readdirSync(directory), ['x.sock']);
  await listener.close();
});

test('the socket of a killed process stays when deleting is turned off', async () => {
  const { directory, path } = freshPath();
  await leaveStale(path);
  await assert.rejects(
    listen(path, { deleteExisting: false }),
    refusal('socket-stale', /--uds-name .*x\.sock/),
  );
  assert.deepEqual(readdirSync(directory), ['x.sock']);
});

test('a live socket of another process is never taken', async () => {
  const { directory, path } = freshPath();
  const other = await foreign(path);
  await assert.rejects(listen(path), refusal('socket-in-use', /another process/));
  assert.equal(await ask(path), 'theirs');
  assert.deepEqual(readdirSync(directory), ['x.sock']);
  other.close();
});

test('of many servers that start at once on a stale socket one gets it and keeps it', async () => {
  const { directory, path } = freshPath();
  await leaveStale(path);
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => listen(path)));
  const won = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const lost = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  assert.equal(won.length, 1);
  for (const reason of lost) refusal('socket-in-use', /another process/)(reason);
  assert.equal(await ask(path), 'ours');
  assert.deepEqual(readdirSync(directory), ['x.sock']);
  await won[0]?.close();
});

test('of many processes that start at once on a stale socket one gets it', async () => {
  const { directory, path } = freshPath();
  await leaveStale(path);
  const module = new URL('../../src/proxy/ops/listen-unix.ts', import.meta.url).href;
  const log = new URL('../../src/proxy/ops/log.ts', import.meta.url).href;
  const script = `
    const { listenUnix } = await import(${JSON.stringify(module)});
    const { silentLog } = await import(${JSON.stringify(log)});
    process.stdout.write('ready');
    await new Promise((resolve) => process.stdin.once('data', resolve));
    const options = { path: ${JSON.stringify(path)}, label: 'x', log: silentLog, onConnection: (s) => s.end('ours') };
    await listenUnix(options).then(() => console.log(' won'), (fault) => console.log(' ' + fault.code));
    process.stdin.once('end', () => process.exit());`;
  const args = ['--import', 'tsx', '--input-type=module', '-e', script];
  const starters = Array.from({ length: 3 }, () =>
    spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  await Promise.all(starters.map((starter) => once(starter.stdout, 'data')));
  const words = starters.map((starter) => once(starter.stdout, 'data'));
  for (const starter of starters) starter.stdin.write('go');
  const said = (await Promise.all(words)).map(([chunk]) => String(chunk).trim()).sort();
  assert.deepEqual(said, ['socket-in-use', 'socket-in-use', 'won']);
  assert.equal(await ask(path), 'ours');
  assert.deepEqual(readdirSync(directory), ['x.sock']);
  for (const starter of starters) starter.stdin.end();
  await Promise.all(starters.map((starter) => once(starter, 'exit')));
});

test('closing leaves the socket of a server that came after us', async () => {
  const { path } = freshPath();
  const listener = await listen(path);
  // What a server does that deletes whatever it finds.
  rmSync(path);
  const other = await foreign(path);
  await listener.close();
  assert.equal(await ask(path), 'theirs');
  other.close();
});

test('a socket that was moved away is not looked for', async () => {
  const { directory, path } = freshPath();
  const listener = await listen(path);
  renameSync(path, `${path}.old`);
  await listener.close();
  assert.deepEqual(readdirSync(directory), ['x.sock.old']);
});

const occupants: readonly [string, (path: string) => void, RegExp][] = [
  ['directory', (path) => mkdirSync(path), /a directory/],
  ['regular file', (path) => writeFileSync(path, 'precious'), /a regular file/],
  ['symbolic link', (path) => symlinkSync('/nowhere/else', path), /a symbolic link to \/nowhere\/else/],
];
for (const [what, make, words] of occupants) {
  test(`a ${what} in the place of the socket is refused and kept`, async () => {
    const { directory, path } = freshPath();
    make(path);
    const before = lstatSync(path).ino;
    await assert.rejects(listen(path), refusal('socket-occupied', words));
    assert.equal(lstatSync(path).ino, before);
    assert.deepEqual(readdirSync(directory), ['x.sock']);
  });
}

test('a missing directory is named', async () => {
  const path = join(root, 'missing', 'x.sock');
  await assert.rejects(
    listen(path),
    refusal('socket-directory-missing', /missing does not exist; create it/),
  );
});

test('a path of 107 bytes works, one of 108 is refused', async () => {
  const { directory } = freshPath();
  const longest = join(directory, 'x'.repeat(107 - directory.length - 1));
  const listener = await listen(longest);
  assert.equal(await ask(longest), 'ours');
  await listener.close();
  await assert.rejects(listen(`${longest}x`), refusal('socket-path-too-long', /108 bytes/));
  assert.deepEqual(readdirSync(directory), []);
});

test('bytes are counted, not characters', () => {
  assert.throws(
    () => checkUnixPath(`/${'ü'.repeat(54)}`, '--server'),
    refusal('socket-path-too-long', /109 bytes/),
  );
  checkUnixPath(`/${'ü'.repeat(53)}`, '--server');
});

test('an abandoned lock does not stop a start for good', async () => {
  const { directory, path } = freshPath();
  await leaveStale(path);
  writeFileSync(`${path}.lock`, '');
  utimesSync(`${path}.lock`, 1, 1);
  const listener = await listen(path);
  assert.deepEqual(readdirSync(directory), ['x.sock']);
  await listener.close();
});

test('waiting for a lock ends with the signal', async () => {
  const { path } = freshPath();
  await leaveStale(path);
  writeFileSync(`${path}.lock`, '');
  const controller = new AbortController();
  const listening = listen(path, { signal: controller.signal });
  controller.abort();
  await assert.rejects(listening, { name: 'AbortError' });
  assert.ok(existsSync(path));
  assert.equal(readFileSync(`${path}.lock`, 'utf8'), '');
});
