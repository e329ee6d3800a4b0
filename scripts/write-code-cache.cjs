// Runs a bundle as bin/ does, with the arguments that follow it, and keeps what was compiled until its end beside it.
const { renameSync, writeFileSync } = require('node:fs');
const { digestOf, loadBundle } = require('../bin/load-bundle.js');

// As if the bundle had been started itself.
process.argv.splice(1, 1);
const bundle = process.argv[1];
const { script, source } = loadBundle(bundle);
process.on('exit', () => {
  const fresh = `${bundle}.cache.${process.pid}.new`;
  const compiled = script.createCachedData();
  writeFileSync(fresh, Buffer.concat([digestOf(source, compiled), compiled]));
  renameSync(fresh, `${bundle}.cache`);
});
