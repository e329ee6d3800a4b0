// Bundles the sources into dist/: with lazy chunks, and as one file each for commands of operators, for top, and for
// serve and agent. `prepare` runs this beside programs that run from dist/ (npx does, in a checkout), so it is not emptied first.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

// An installed package ships dist/ and no sources: nothing to build there.
if (existsSync('src/main.ts')) {
  const { build } = await import('esbuild');
  const { bundleOptions, daemonBundleOptions, operatorBundleOptions, screenBundleOptions } = await import(
    './bundle-options.mjs'
  );
  const { removeOthers, writeOutputs } = await import('./write-bundle.mjs');
  const results = await Promise.all(
    [bundleOptions(), operatorBundleOptions(), screenBundleOptions(), daemonBundleOptions()].map((options) =>
      build({ ...options, write: false }),
    ),
  );
  const outputs = results.flatMap(({ outputFiles }) => outputFiles);
  writeOutputs(outputs);
  const caches = ['operator', 'screen', 'daemon'].map((name) => `dist/${name}.cjs.cache`);
  removeOthers('dist', [...outputs.map(({ path }) => path), 'dist/log-lines.json', ...caches]);
  const { writeLogLines } = await import('./log-lines.mjs');
  writeLogLines('dist');
  const { writeCodeCaches } = await import('./code-cache.mjs');
  await writeCodeCaches(resolve('dist'));
}
