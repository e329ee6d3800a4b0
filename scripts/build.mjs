// Bundles src/main.ts and what it loads lazily into dist/, so that a command starts without the module graph.
import { existsSync, readFileSync, rmSync } from 'node:fs';

// An installed package ships dist/ and no sources: nothing to build there.
if (existsSync('src/main.ts')) {
  const { build } = await import('esbuild');
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  rmSync('dist', { recursive: true, force: true });
  await build({
    entryPoints: { main: 'src/main.ts' },
    outdir: 'dist',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: 'linked',
    sourcesContent: false,
    chunkNames: 'chunks/[name]-[hash]',
    define: { 'process.env.NODE_ENV': '"production"', KONNECTIVITY_TS_VERSION: JSON.stringify(version) },
    // CommonJS dependencies call require() for Node's own modules; ESM output has none unless given one.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
}
