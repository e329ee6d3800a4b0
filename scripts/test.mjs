// Runs the tests: every test/**/*.test.ts, or the files (or parts of their names) given as arguments.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { compileTests } from './compile-tests.mjs';

/** Those that take longest begin first, or one of them runs alone at the end. */
const LONGEST = [
  'server/close-orders',
  'commands/drain-real',
  'conformance/conformance',
  'server/cancel-races',
  'commands/demo',
  'commands/build',
  'server/draining',
  'commands/binary-refusals',
  'tui/several-servers',
  'tui/real-server',
  'commands/admin-refusals',
  'server/slow-reader',
  'kubernetes/kube-api',
  'client/dial-tunnel',
  'admin/service',
  'server/sync-forever',
  'server/token-auth',
  'commands/draining-doc',
  'agent/dials',
].map((name) => `test/${name}.test.ts`);

const wanted = process.argv.slice(2).filter((a) => !a.startsWith('--'));
const flags = process.argv.slice(2).filter((a) => a.startsWith('--'));
const files = readdirSync('test', { recursive: true })
  .map((f) => `test/${String(f).replaceAll('\\', '/')}`)
  .filter((f) => f.endsWith('.test.ts') && (wanted.length === 0 || wanted.some((w) => f.includes(w))))
  .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
if (files.length === 0) {
  console.error(`no test file matches ${wanted.join(' ')}`);
  process.exit(2);
}
function rank(file) {
  const place = LONGEST.indexOf(file);
  return place < 0 ? LONGEST.length : place;
}
const { compiled, remove } = await compileTests(files);
const args = [
  '--enable-source-maps',
  '--test',
  '--test-reporter=./scripts/test-reporter.mjs',
  '--test-reporter-destination=stdout',
  // Two more than the two cores that it is made for: some tests wait for processes.
  '--test-concurrency=4',
  // Holds for a whole file too; the first one that compiles Go code takes 75 s. A test that hangs should be told before
  // whoever runs all of them gives up.
  '--test-timeout=150000',
  ...flags,
  ...compiled,
];
const child = spawn(process.execPath, args, { stdio: 'inherit' });
// The tests end first: a terminal tells them too.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => child.kill());
child.on('exit', (code, signal) => {
  remove();
  process.exit(signal ? 1 : (code ?? 1));
});
