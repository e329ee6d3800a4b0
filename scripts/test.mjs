// Runs the tests: every test/**/*.test.ts, or the files (or parts of their names) given as arguments.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';

const wanted = process.argv.slice(2).filter((a) => !a.startsWith('--'));
const flags = process.argv.slice(2).filter((a) => a.startsWith('--'));
const files = readdirSync('test', { recursive: true })
  .map((f) => `test/${String(f).replaceAll('\\', '/')}`)
  .filter((f) => f.endsWith('.test.ts') && (wanted.length === 0 || wanted.some((w) => f.includes(w))))
  .sort();
if (files.length === 0) {
  console.error(`no test file matches ${wanted.join(' ')}`);
  process.exit(2);
}
const args = [
  '--import',
  'tsx',
  '--test',
  // One more than the two cores that it is made for: some tests wait for processes.
  '--test-concurrency=3',
  // Holds for a whole file too, and the first one that compiles Go code takes a while.
  '--test-timeout=240000',
  ...flags,
  ...files,
];
const child = spawn(process.execPath, args, { stdio: 'inherit' });
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
