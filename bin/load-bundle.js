const { createHash } = require('node:crypto');
const { readFileSync } = require('node:fs');
const { basename, dirname, resolve } = require('node:path');
const { setFlagsFromString } = require('node:v8');
const vm = require('node:vm');

const DIGEST_BYTES = 32;

/**
 * For a screen that stands open for hours: its young objects stay in 1 MB (a third of its memory would be garbage of
 * theirs), and the optimizing compiler, which takes more CPU than it saves there, is for what runs ten times as often. V8 reads
 * these when it needs them, so that they work without another start; what it does not know, it complains about.
 * @param {string} bundle
 * @returns {string[]}
 */
function flagsOf(bundle) {
  const v8 = Number.parseInt(process.versions.v8, 10);
  if (bundle !== 'screen.cjs' || v8 > 13) return [];
  const young = '--semi-space-growth-factor=1';
  return v8 === 11 ? [young, '--interrupt-budget=1320000'] : [young];
}

/**
 * V8 itself looks at the lengths alone: the cache of another build would run in place of the bundle, and one of which a
 * power loss emptied a page would end the process.
 * @param {string} source
 * @param {Buffer} compiled what V8 made of it
 * @returns {Buffer} what a code cache begins with
 */
function digestOf(source, compiled) {
  return createHash('sha256').update(source).update(compiled).digest();
}

/** @returns {Buffer | undefined} the code cache beside a bundle, if it is whole and of this source */
function codeCache(filename, source) {
  try {
    const file = readFileSync(`${filename}.cache`);
    const compiled = file.subarray(DIGEST_BYTES);
    if (digestOf(source, compiled).equals(file.subarray(0, DIGEST_BYTES))) return compiled;
  } catch {
    // Optional: it only saves time.
  }
}

/**
 * Runs a CommonJS bundle of this package, with its flags of V8 and the code cache that the build left beside it if V8 takes it.
 * @param {string} name its name in dist/, or its path
 * @returns {{ script: vm.Script, source: string }} what was run
 */
function loadBundle(name) {
  const filename = resolve(__dirname, '../dist', name);
  // Before the code cache: it is one of these flags.
  for (const flag of flagsOf(basename(name))) setFlagsFromString(flag);
  const source = readFileSync(filename, 'utf8');
  const wrapped = `(function (exports, require, module, __filename, __dirname) {\n${source}\n})`;
  const cachedData = codeCache(filename, source);
  const script = new vm.Script(wrapped, { filename, lineOffset: -1, cachedData });
  const bundle = { exports: {} };
  script.runInThisContext()(bundle.exports, require, bundle, filename, dirname(filename));
  return { script, source };
}

module.exports = { digestOf, loadBundle };
