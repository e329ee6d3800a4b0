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
    // DEV would make Ink look for React's development tools.
    define: {
      'process.env.NODE_ENV': '"production"',
      'process.env.DEV': '""',
      KONNECTIVITY_TS_VERSION: JSON.stringify(version),
    },
    // CommonJS dependencies call require() for Node's own modules; ESM output has none unless given one.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    // node-fetch (of the Kubernetes client) and Ink take them if they are there: nothing is to be loaded from outside.
    alias: {
      encoding: './scripts/absent-package.cjs',
      'react-devtools-core': './scripts/absent-package.cjs',
    },
    logLevel: 'warning',
  };
}
