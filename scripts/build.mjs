// Bundles src/main.ts into dist/: once with lazy chunks, once as one file for the commands of operators. `prepare` runs
// this beside programs that run from dist/ (npx does, in a checkout), so it is not emptied first.
import { existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';

// An installed package ships dist/ and no sources: nothing to build there.
if (existsSync('src/main.ts')) {
  const { build } = await import('esbuild');
  const { bundleOptions, operatorBundleOptions } = await import('./bundle-options.mjs');
  const { removeOthers, writeOutputs } = await import('./write-bundle.mjs');
  const results = await Promise.all(
    [bundleOptions(), operatorBundleOptions()].map((options) => build({ ...options, write: false })),
  );
  const outputs = results.flatMap(({ outputFiles }) => outputFiles);
  const operator = resolve('dist/operator.cjs');
  const cache = `${operator}.cache`;
  // V8 takes a cache for any source of the same length.
  if (writeOutputs(outputs).includes(operator)) rmSync(cache, { force: true });
  removeOthers('dist', [...outputs.map(({ path }) => path), 'dist/log-lines.json', cache]);
  const { writeLogLines } = await import('./log-lines.mjs');
  writeLogLines('dist');
  const { writeCodeCache } = await import('./code-cache.mjs');
  await writeCodeCache(operator);
}
