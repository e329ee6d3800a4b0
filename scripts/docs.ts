// npm run docs: writes what is generated from definitions; with --check, fails when something is stale.
import { renewManPages } from './man-options.ts';

const check = process.argv.includes('--check');
await import('./flags-doc.ts');
const stale = renewManPages(check);
if (check && stale.length > 0) {
  console.error(`the options of man pages are stale (${stale.join(', ')}): run npm run docs`);
  process.exitCode = 1;
}
