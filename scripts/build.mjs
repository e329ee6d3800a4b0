// Bundles src/main.ts and what it loads lazily into dist/, so that a command starts without the module graph.
import { existsSync, rmSync } from 'node:fs';

// An installed package ships dist/ and no sources: nothing to build there.
if (existsSync('src/main.ts')) {
  const { build } = await import('esbuild');
  const { bundleOptions } = await import('./bundle-options.mjs');
  rmSync('dist', { recursive: true, force: true });
  await build(bundleOptions());
  const { writeLogLines } = await import('./log-lines.mjs');
  writeLogLines('dist');
}
