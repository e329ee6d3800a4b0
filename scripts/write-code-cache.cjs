// Runs a bundle as bin/ does, with the arguments that follow it, and keeps what was compiled until its end beside it.
// SCREEN=120x40: its pipes look like a terminal of that size.
const { renameSync, writeFileSync } = require('node:fs');
const { digestOf, loadBundle } = require('../bin/load-bundle.js');

// As if the bundle had been started itself.
process.argv.splice(1, 1);
const bundle = process.argv[1];
const { SCREEN } = process.env;
if (SCREEN !== undefined) {
  const [columns, rows] = SCREEN.split('x').map(Number);
  Object.assign(process.stdin, { isTTY: true, setRawMode: () => process.stdin });
  Object.assign(process.stdout, { isTTY: true, columns, rows });
}
const { script, source } = loadBundle(bundle);
process.on('exit', () => {
  const fresh = `${bundle}.cache.${process.pid}.new`;
  const compiled = script.createCachedData();
  writeFileSync(fresh, Buffer.concat([digestOf(source, compiled), compiled]));
  renameSync(fresh, `${bundle}.cache`);
});
