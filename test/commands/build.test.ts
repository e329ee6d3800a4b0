import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { removeOthers, writeOutputs } from '../../scripts/write-bundle.mjs';

const run = promisify(execFile);

describe('a build beside programs that run from the last one', () => {
  let checkout: string;
  const dist = (name: string): string => join(checkout, 'dist', name);
  before(() => {
    checkout = mkdtempSync(join(tmpdir(), 'kts-build-'));
    for (const name of ['bin', 'src', 'scripts', 'package.json', 'tsconfig.json']) {
      cpSync(name, join(checkout, name), { recursive: true });
    }
    symlinkSync(resolve('node_modules'), join(checkout, 'node_modules'));
  });
  after(() => rmSync(checkout, { recursive: true }));

  test('misses no file at any moment, and leaves none of those that nothing is left of', async () => {
    mkdirSync(dist('chunks'), { recursive: true });
    const old = ['main.js', 'operator.cjs', 'chunks/of-the-past.js'];
    for (const name of old) writeFileSync(dist(name), 'old');
    const missed = new Set<string>();
    const look = (): void => {
      for (const name of old.slice(0, 2)) if (!existsSync(dist(name))) missed.add(name);
    };
    const watchers = [checkout, dist('.')].map((folder) => watch(folder, look));
    await run(process.execPath, ['scripts/build.mjs'], { cwd: checkout });
    for (const watcher of watchers) watcher.close();
    assert.deepEqual([...missed], []);
    assert.ok(!existsSync(dist('chunks/of-the-past.js')));
    assert.ok(existsSync(dist('log-lines.json')) && existsSync(dist('operator.cjs.cache')));
    const { stdout } = await run(process.execPath, [join(checkout, 'bin/konnectivity-ts.js'), '--version']);
    assert.match(stdout, /\d/);
  });

  test('writes chunks before what imports them, and a file as a whole', () => {
    const folder = join(checkout, 'order');
    mkdirSync(join(folder, 'chunks'), { recursive: true });
    const output = (name: string, text: string) => ({
      path: join(folder, name),
      contents: Buffer.from(text),
    });
    writeFileSync(join(folder, 'same.js'), 'same');
    const outputs = [output('main.js', 'new'), output('same.js', 'same'), output('chunks/a.js', 'a')];
    assert.deepEqual(writeOutputs(outputs), [join(folder, 'chunks/a.js'), join(folder, 'main.js')]);
    assert.equal(readFileSync(join(folder, 'main.js'), 'utf8'), 'new');
    assert.deepEqual(readdirSync(folder).sort(), ['chunks', 'main.js', 'same.js']);
  });

  test('leaves what another build is just writing', () => {
    const folder = join(checkout, 'others');
    mkdirSync(folder);
    for (const name of [`main.js.${process.pid}.new`, 'main.js.999999999.new', 'main.js', 'old.js']) {
      writeFileSync(join(folder, name), '');
    }
    removeOthers(folder, [join(folder, 'main.js')]);
    assert.deepEqual(readdirSync(folder).sort(), ['main.js', `main.js.${process.pid}.new`].sort());
  });
});
