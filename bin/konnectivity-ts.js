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

// Commands that ask once and end have a bundle of their own, one file without modules to resolve: most of what such a
// command takes is its start.
var quick = ['agents', 'tunnels', 'drains', 'events', 'select', 'why', 'drain', 'undrain', 'close'];

function refuseWithoutBundle(error) {
  if (error && (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'ENOENT')) {
    process.stderr.write(
      'konnectivity-ts: dist/ is missing; run "npm ci" or "npm run build" in the checkout\n',
    );
    process.exit(1);
  }
  throw error;
}

if (quick.indexOf(process.argv[2]) >= 0) {
  try {
    require('./load-bundle.js').loadBundle('operator.cjs');
  } catch (error) {
    refuseWithoutBundle(error);
  }
} else import('../dist/main.js').catch(refuseWithoutBundle);
