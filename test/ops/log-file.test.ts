import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync, write, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Fault } from '../../src/proxy/ops/fault.ts';
import { type KlogOutputOptions, klogOutput } from '../../src/proxy/ops/klog-output.ts';
import { LogFile, type LogFileCalls, type LogFileOptions } from '../../src/proxy/ops/log-file.ts';
import { streamLines } from '../../src/proxy/ops/log-stream.ts';

function inDirectory(run: (directory: string) => void | Promise<void>): () => Promise<void> {
  return async () => {
    const directory = mkdtempSync(join(tmpdir(), 'kts-log-'));
    try {
      await run(directory);
    } finally {
      rmSync(directory, { recursive: true });
    }
  };
}

/** A disk that writes when it is told to, with the result that it is told. */
function slowDisk() {
  const waiting: { bytes: Buffer; done: (error: NodeJS.ErrnoException | null, written: number) => void }[] =
    [];
  const calls: LogFileCalls = {
    open: (path, flags) => openSync(path, flags),
    write: (_fd, bytes, done) => waiting.push({ bytes, done }),
  };
  return { calls, waiting };
}

function logFile(path: string, options: Partial<LogFileOptions> = {}) {
  const elsewhere: string[] = [];
  const file = new LogFile({
    path: () => path,
    label: '--log-file',
    maxBytes: Number.POSITIVE_INFINITY,
    head: () => '',
    elsewhere: (text) => elsewhere.push(text),
    ...options,
  });
  return { file, elsewhere };
}

it(
  'a log file is appended to at the start and begins with a head',
  inDirectory((directory) => {
    const path = join(directory, 'x.log');
    writeFileSync(path, 'old\n');
    const { file } = logFile(path, { head: () => 'head\n' });
    file.write('new\n');
    file.closeSync();
    assert.match(readFileSync(path, 'utf8'), /^old\nhead\nnew\n$/);
  }),
);

it(
  'a log file is emptied when the next line would reach its size',
  inDirectory(async (directory) => {
    const path = join(directory, 'x.log');
    const written: (() => void)[] = [];
    const calls: LogFileCalls = {
      open: (name, flags) => openSync(name, flags),
      write: (fd, bytes, done) =>
        write(fd, bytes, 0, bytes.length, null, (error, count) => {
          done(error, count);
          written.shift()?.();
        }),
    };
    const { file } = logFile(path, { maxBytes: 100, head: () => 'head\n', calls });
    for (let i = 0; i < 20; i++) {
      const done = new Promise<void>((resolve) => written.push(resolve));
      file.write(`line ${String(i).padStart(20)}\n`);
      await done;
    }
    file.closeSync();
    const text = readFileSync(path, 'utf8');
    assert.ok(text.length < 100, text);
    assert.match(text, /^head\n[\s\S]*line {19}19\n$/);
  }),
);

it(
  'a file that cannot be opened is refused with its path and the flag',
  inDirectory((directory) => {
    assert.throws(
      () => logFile(join(directory, 'missing', 'x.log')),
      (error) =>
        error instanceof Fault &&
        error.code === 'log-file-unwritable' &&
        /^--log-file: cannot write .*missing\/x\.log: ENOENT; give a path/.test(error.line),
    );
  }),
);

it(
  'a full disk sends lines elsewhere, with one line that says so, and is tried again',
  inDirectory(async (directory) => {
    const { calls, waiting } = slowDisk();
    const { file, elsewhere } = logFile(join(directory, 'x.log'), { calls, retryMs: 0 });
    file.write('one\n');
    file.write('two\n');
    await turn();
    waiting.shift()?.done(Object.assign(new Error('full'), { code: 'ENOSPC' }), 0);
    assert.equal(
      elsewhere.join(''),
      `--log-file: ${directory}/x.log: ENOSPC; what it misses follows here\none\ntwo\n`,
    );
    file.write('three\n');
    await turn();
    assert.equal(waiting[0]?.bytes.toString(), 'three\n');
  }),
);

it(
  'a disk that does not answer keeps a bounded number of lines, and the rest is counted',
  inDirectory(async (directory) => {
    const { calls, waiting } = slowDisk();
    const { file } = logFile(join(directory, 'x.log'), { calls, mostPendingBytes: 100 });
    for (let i = 0; i < 1000; i++) file.write('0123456789\n');
    await turn();
    const text = waiting[0]?.bytes.toString() ?? '';
    assert.equal(text, `${'0123456789\n'.repeat(9)}991 log lines were dropped: the disk is too slow\n`);
    file.closeSync();
  }),
);

it(
  'bytes that the disk took only in part are written in full',
  inDirectory(async (directory) => {
    const { calls, waiting } = slowDisk();
    const { file } = logFile(join(directory, 'x.log'), { calls });
    file.write('abcdef\n');
    await turn();
    waiting.shift()?.done(null, 3);
    assert.equal(waiting[0]?.bytes.toString(), 'def\n');
    file.closeSync();
  }),
);

it('a stream that nobody reads keeps a bounded number of lines, and the rest is counted', () => {
  const taken: string[] = [];
  let next: (() => void) | undefined;
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      taken.push(String(chunk));
      next = done;
    },
  });
  const write = streamLines(stream, 30);
  for (let i = 0; i < 100; i++) write('0123456789\n');
  while (next !== undefined) {
    const done: () => void = next;
    next = undefined;
    done();
  }
  write('last\n');
  assert.equal(taken.length + stream.writableLength > 0 ? taken[0] : '', '0123456789\n');
  assert.ok(taken.length <= 4);
});

it('standard error on a full disk takes lines again when there is room', async () => {
  const taken: string[] = [];
  let full = true;
  // As Node has standard error: a write that failed does not end it.
  const stream = new Writable({
    destroy(error, done) {
      done(error);
      (this as unknown as { _undestroy(): void })._undestroy();
    },
    write: (chunk, _encoding, done) => {
      if (full) return done(Object.assign(new Error('no space'), { code: 'ENOSPC' }));
      taken.push(String(chunk));
      done();
    },
  });
  const write = streamLines(stream);
  const failed = new Promise((resolve) => stream.once('error', resolve));
  write('one\n');
  await failed;
  full = false;
  write('two\n');
  assert.deepEqual(taken, ['two\n']);
});

it(
  'a JSON log file has no head',
  inDirectory((directory) => {
    const file = join(directory, 'x.log');
    output({ toStderr: false, file, format: 'json', skipFileHeads: false });
    assert.equal(readFileSync(file, 'utf8'), 'iwe');
  }),
);

it('what a JSON log says about itself is an object, too', () => {
  let next: (() => void) | undefined;
  const taken: string[] = [];
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      taken.push(String(chunk));
      next = done;
    },
  });
  const write = streamLines(stream, 10, 'json');
  write('{"a":1}\n');
  write('{"b":2}\n');
  next?.();
  write('{"c":3}\n');
  for (let done = next; taken.length < 3 && done !== undefined; done = next) done();
  assert.match(JSON.parse(taken[1] as string).msg, /^1 log lines were dropped/);
});

it('a stream that fails does not end the process', async () => {
  const stream = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
  const write = streamLines(stream);
  const failed = new Promise((resolve) => stream.once('error', resolve));
  write('one\n');
  await failed;
  write('two\n');
});

function output(changes: Partial<KlogOutputOptions>) {
  const stderr: string[] = [];
  const made = klogOutput({
    program: 'kts',
    toStderr: true,
    alsoToStderr: false,
    stderrThreshold: 2,
    alsoToStderrThreshold: 0,
    legacyThreshold: true,
    file: '',
    fileMaxBytes: Number.POSITIVE_INFINITY,
    directory: '',
    oneOutput: false,
    skipFileHeads: true,
    format: 'text',
    stderr: (text) => stderr.push(text),
    ...changes,
  });
  made.write('i', 'info');
  made.write('w', 'warning');
  made.write('e', 'error');
  made.closeSync();
  return stderr.join('');
}

it('--logtostderr sends everything to standard error, or what reaches the threshold without the legacy', () => {
  assert.equal(output({}), 'iwe');
  assert.equal(output({ legacyThreshold: false, stderrThreshold: 1 }), 'we');
});

it(
  'with a file, standard error gets what reaches --stderrthreshold',
  inDirectory((directory) => {
    const file = join(directory, 'x.log');
    assert.equal(output({ toStderr: false, file }), 'e');
    assert.equal(readFileSync(file, 'utf8'), 'iwe');
    assert.equal(output({ toStderr: false, file, stderrThreshold: 3 }), '');
  }),
);

it(
  '--alsologtostderr sends what reaches its own threshold to standard error',
  inDirectory((directory) => {
    const file = join(directory, 'x.log');
    assert.equal(output({ toStderr: false, file, alsoToStderr: true }), 'iwe');
    assert.equal(output({ toStderr: false, file, alsoToStderr: true, alsoToStderrThreshold: 1 }), 'we');
  }),
);

it(
  'a directory gets a file of each severity, with a link to it; higher severities are in the lower files too',
  inDirectory((directory) => {
    output({ toStderr: false, directory });
    const read = (tag: string): string => readFileSync(join(directory, `kts.${tag}`), 'utf8');
    assert.deepEqual(['INFO', 'WARNING', 'ERROR'].map(read), ['iwe', 'we', 'e']);
    const name = /^kts\.[^.]+\.[^.]+\.log\.ERROR\.\d{8}-\d{6}\.\d+$/;
    assert.ok(readdirSync(directory).some((file) => name.test(file)));
  }),
);

it(
  '--one-output writes a line to the file of its severity only',
  inDirectory((directory) => {
    output({ toStderr: false, directory, oneOutput: true });
    const read = (tag: string): string => readFileSync(join(directory, `kts.${tag}`), 'utf8');
    assert.deepEqual(['INFO', 'WARNING', 'ERROR'].map(read), ['i', 'w', 'e']);
  }),
);

it(
  'a FIFO that nobody reads is refused, and does not stop the start',
  inDirectory((directory) => {
    const path = join(directory, 'fifo');
    execFileSync('mkfifo', [path]);
    assert.throws(
      () => logFile(path),
      (error) => error instanceof Fault && error.message.includes('nobody reads this FIFO'),
    );
  }),
);
