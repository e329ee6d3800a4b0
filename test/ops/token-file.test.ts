import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { test } from 'node:test';
import { Fault } from '../../src/proxy/ops/fault.ts';
import { readTokenFile } from '../../src/proxy/ops/token-file.ts';
import { Pki } from '../peers/pki.ts';

async function withFile(contents: string | Uint8Array, run: (path: string) => Promise<void>): Promise<void> {
  const files = new Pki();
  try {
    await run(files.file('token', contents));
  } finally {
    files.remove();
  }
}

const read = (path: string): Promise<string> => readTokenFile({ label: '--token', path });

function refuses(contents: string | Uint8Array, code: string, words: RegExp): Promise<void> {
  return withFile(contents, (path) =>
    assert.rejects(read(path), (error: unknown) => {
      assert.ok(error instanceof Fault);
      assert.equal(error.code, code);
      assert.match(error.line, words);
      assert.ok(!error.line.includes('SECRET'), error.line);
      return true;
    }),
  );
}

test('a token is read without the white space around it', () =>
  withFile(' \n a.b.c\r\n\n', async (path) => assert.equal(await read(path), 'a.b.c')));

test('an empty token file is named', () => refuses(' \n', 'token-empty', /--token .*token is empty/));
test('two tokens are refused', () => refuses('SECRET\nSECRET', 'token-malformed', /has more than one line/));
test('a token with a blank in it is refused', () =>
  refuses('SECRET SECRET', 'token-malformed', /white space/));
test('a token beyond ASCII is refused', () => refuses('SECRÉT', 'token-malformed', /not ASCII/));
test('a NUL byte is refused', () => refuses('SECRET\0', 'token-malformed', /cannot have/));
test('a file that is too large is refused', () =>
  refuses('S'.repeat(16 * 1024 + 1), 'token-too-large', /larger than 16384 bytes/));
test('the largest file is taken', () =>
  withFile('S'.repeat(16 * 1024), async (path) => assert.equal((await read(path)).length, 16 * 1024)));

test('a file that does not exist is named', () =>
  withFile('', (path) =>
    assert.rejects(read(`${path}.x`), { code: 'token-missing', message: /token\.x does not exist/ }),
  ));

test('a directory, a device and a FIFO are no token files', () =>
  withFile('', async (path) => {
    execFileSync('mkfifo', [`${path}.fifo`]);
    for (const other of ['/', '/dev/zero', `${path}.fifo`]) {
      await assert.rejects(read(other), {
        code: 'token-unreadable',
        message: /no regular file|not a regular file/,
      });
    }
  }));

test('a file that we may not read is named', { skip: process.getuid?.() === 0 && 'root may read it' }, () =>
  withFile('x', async (path) => {
    chmodSync(path, 0o000);
    await assert.rejects(read(path), { code: 'token-unreadable', message: /no permission to read/ });
  }),
);
