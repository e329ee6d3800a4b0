// Writes docs/FLAGS.md from the definitions of the flags; with --check, fails when the file is stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { flagsDocument } from '../src/commands/flags/flags-document.ts';

const file = new URL('../docs/FLAGS.md', import.meta.url);
if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== flagsDocument()) {
    console.error('docs/FLAGS.md is stale: run node --import tsx scripts/flags-doc.ts');
    process.exitCode = 1;
  }
} else writeFileSync(file, flagsDocument());
