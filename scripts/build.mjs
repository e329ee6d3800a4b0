// Bundles src/main.ts into dist/: once with lazy chunks, once as one file for the commands of operators.
import { existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';

// An installed package ships dist/ and no sources: nothing to build there.
if (existsSync('src/main.ts')) {
  const { build } = await import('esbuild');
  const { bundleOptions, operatorBundleOptions } = await import('./bundle-options.mjs');
  rmSync('dist', { recursive: true, force: true });
  await Promise.all([build(bundleOptions()), build(operatorBundleOptions())]);
  const { writeLogLines } = await import('./log-lines.mjs');
  writeLogLines('dist');
  const { writeCodeCache } = await import('./code-cache.mjs');
  await writeCodeCache(resolve('dist/operator.cjs'));
}
