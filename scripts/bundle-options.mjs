import { readFileSync } from 'node:fs';

/** How esbuild makes dist/; a test looks into the same bundle. */
export function bundleOptions() {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  return {
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
    // node-fetch (of the Kubernetes client) takes it if it is there: nothing is to be loaded from outside.
    alias: { encoding: './scripts/absent-package.cjs' },
    logLevel: 'warning',
  };
}
