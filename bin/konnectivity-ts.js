#!/usr/bin/env node
// Kept to syntax that very old Node versions parse, so that they print the refusal instead of a SyntaxError.
var parts = process.versions.node.split('.').map(Number);
if (parts[0] < 20 || (parts[0] === 20 && parts[1] < 20)) {
  process.stderr.write(
    'konnectivity-ts: needs Node.js 20.20 or newer, this is ' +
      process.versions.node +
      '; install a maintained Node.js\n',
  );
  process.exit(1);
}

// Most of what these commands, and top, take until they answer is their start: they have bundles of one file each. The
// others have one of many modules.
var operator = ['agents', 'tunnels', 'drains', 'events', 'select', 'why', 'drain', 'undrain', 'close'];
var daemon = ['serve', 'agent'];
var command = process.argv[2];
var bundle = null;
if (operator.indexOf(command) >= 0) bundle = 'operator.cjs';
else if (command === 'top') bundle = 'screen.cjs';
else if (daemon.indexOf(command) >= 0) bundle = 'daemon.cjs';

function refuseWithoutBundle(error) {
  if (error && (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'ENOENT')) {
    process.stderr.write(
      'konnectivity-ts: dist/ is missing; run "npm ci" or "npm run build" in the checkout\n',
    );
    process.exit(1);
  }
  throw error;
}

if (bundle) {
  try {
    require('./load-bundle.js').loadBundle(bundle);
  } catch (error) {
    refuseWithoutBundle(error);
  }
} else import('../dist/main.js').catch(refuseWithoutBundle);
