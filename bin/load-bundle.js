const { readFileSync } = require('node:fs');
const { dirname, resolve } = require('node:path');
const vm = require('node:vm');

/**
 * Runs a CommonJS bundle of this package, with the code cache that the build left beside it if V8 takes it.
 * @param {string} name its name in dist/, or its path
 * @returns {vm.Script} what was run
 */
exports.loadBundle = function loadBundle(name) {
  const filename = resolve(__dirname, '../dist', name);
  const source = readFileSync(filename, 'utf8');
  let cachedData;
  try {
    cachedData = readFileSync(`${filename}.cache`);
  } catch {
    // Optional: it only saves time.
  }
  const wrapped = `(function (exports, require, module, __filename, __dirname) {${source}\n})`;
  const script = new vm.Script(wrapped, { filename, cachedData });
  const bundle = { exports: {} };
  script.runInThisContext()(bundle.exports, require, bundle, filename, dirname(filename));
  return script;
};
