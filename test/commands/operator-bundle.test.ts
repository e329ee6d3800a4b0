import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

const { digestOf } = createRequire(import.meta.url)('../../bin/load-bundle.js') as {
  digestOf(source: string, compiled: Buffer): Buffer;
};

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(directory: string, ...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(directory, 'bin/konnectivity-ts.js'), ...args],
      (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
  });
}

describe('the bundle of the commands that ask once', () => {
  let directory: string;
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'operator-bundle-'));
    cpSync('bin', join(directory, 'bin'), { recursive: true });
    cpSync('dist', join(directory, 'dist'), { recursive: true });
    cpSync('package.json', join(directory, 'package.json'));
  });
  after(() => rmSync(directory, { recursive: true }));

  const refusal: Ended = {
    code: 5,
    stdout: '',
    stderr:
      'konnectivity-ts: the admin service cannot be reached: unix:///no/such.sock does not exist; check the path, and that the server runs\n',
  };

  test('starts all commands under Look and Act but top', async () => {
    const { stdout } = await run(directory, '--help');
    const groups = /Look:\n([\s\S]*?)\n\nAct:\n([\s\S]*?)\n\nTry:/.exec(stdout);
    const names = [...`\n${groups?.[1]}\n${groups?.[2]}`.matchAll(/\n {2}(\w+)/g)].map((line) => line[1]);
    assert.ok(names.includes('agents') && names.includes('close'), stdout);
    const listed = /var operator = \[(.*)\]/.exec(readFileSync('bin/konnectivity-ts.js', 'utf8'))?.[1];
    assert.deepEqual(
      listed?.split(', ').map((name) => name.replaceAll("'", '')),
      names.filter((name) => name !== 'top'),
    );
  });

  test('has neither the screen nor a server nor a Kubernetes client in it', () => {
    const { sources } = JSON.parse(readFileSync('dist/operator.cjs.map', 'utf8')) as { sources: string[] };
    assert.ok(sources.some((source) => source.endsWith('src/commands/agents.ts')));
    const foreign =
      /\/(ink|react|yoga-layout|@kubernetes|prom-client|selfsigned|tui|server|kubernetes|service)\//;
    const ours = sources.filter((source) => !source.includes('/@grpc/grpc-js/'));
    assert.deepEqual(
      ours.filter((source) => foreign.test(source)),
      [],
    );
  });

  test('works with the code cache that the build left', async () => {
    assert.deepEqual(await run(directory, 'agents', '--admin', 'unix:///no/such.sock'), refusal);
    assert.deepEqual(await run(directory, 'top', '--once', '--admin', 'unix:///no/such.sock'), refusal);
  });

  test('is what runs, and not a code cache of another one that is as long', async () => {
    const path = join(directory, 'dist/operator.cjs');
    const source = readFileSync(path, 'utf8');
    // In what every start compiles: a function that the cache does not have is compiled from the source.
    writeFileSync(path, source.replaceAll('Exit codes: ', 'Exit Codes: '));
    const { stdout } = await run(directory, 'agents', '--help');
    writeFileSync(path, source);
    assert.match(stdout, /^Exit Codes: 0 done/m);
  });

  test('works with a code cache of which a power loss emptied a part', async () => {
    const path = join(directory, 'dist/operator.cjs.cache');
    const cache = readFileSync(path);
    writeFileSync(path, Buffer.from(cache).fill(0, cache.length >> 1, (cache.length >> 1) + 65_536));
    assert.deepEqual(await run(directory, 'agents', '--admin', 'unix:///no/such.sock'), refusal);
    writeFileSync(path, cache);
  });

  test('works with a code cache that V8 refuses', async () => {
    const path = join(directory, 'dist/operator.cjs.cache');
    const source = readFileSync(join(directory, 'dist/operator.cjs'), 'utf8');
    const compiled = readFileSync(path).subarray(32).fill(7, 0, 64);
    writeFileSync(path, Buffer.concat([digestOf(source, compiled), compiled]));
    assert.deepEqual(await run(directory, 'agents', '--admin', 'unix:///no/such.sock'), refusal);
  });

  test('works without a code cache', async () => {
    rmSync(join(directory, 'dist/operator.cjs.cache'));
    assert.deepEqual(await run(directory, 'agents', '--admin', 'unix:///no/such.sock'), refusal);
  });

  test('that is missing is refused with what to do', async () => {
    rmSync(join(directory, 'dist'), { recursive: true });
    const missing = 'konnectivity-ts: dist/ is missing; run "npm ci" or "npm run build" in the checkout\n';
    for (const command of ['agents', 'serve']) {
      assert.deepEqual(await run(directory, command), { code: 1, stdout: '', stderr: missing });
    }
  });
});
