import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);

test('the bundle of top takes the code cache that the build left, under its own flags of V8', async () => {
  assert.ok(existsSync('dist/screen.cjs.cache'));
  const look = `process.execArgv.length = 0;
    process.argv.splice(1, 0, 'konnectivity-ts');
    const { script } = require('./bin/load-bundle.js').loadBundle('screen.cjs');
    process.on('exit', () => console.log(script.cachedDataRejected));`;
  const { stdout, stderr } = await run(process.execPath, ['-e', look, 'top', '--help']);
  assert.match(stdout, /a screen that shows the agents[\s\S]*\nfalse\n$/);
  assert.equal(stderr, '');
});

test('what is compiled for the bundle of top is what runs until its screen is whole', () => {
  const cache = readFileSync('dist/screen.cjs.cache', 'latin1');
  // Names of functions that only a whole screen needs: a run that failed has none of them.
  assert.ok(cache.includes('renderNodeToOutput') && cache.includes('whoPieces'));
});
