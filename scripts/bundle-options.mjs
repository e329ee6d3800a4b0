import { readFileSync } from 'node:fs';
import { withoutAwaiting } from './without-awaiting.mjs';

/** All bundles: how sources become code. */
function commonOptions() {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  return {
    outdir: 'dist',
    bundle: true,
    platform: 'node',
    target: 'node20',
    // Names stay: they are in stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    sourcemap: 'linked',
    sourcesContent: false,
    // DEV would make Ink look for React's development tools.
    define: {
      'process.env.NODE_ENV': '"production"',
      'process.env.DEV': '""',
      KONNECTIVITY_TS_VERSION: JSON.stringify(version),
    },
    // node-fetch (of the Kubernetes client) and Ink take them if they are there: nothing is to be loaded from outside.
    // The URLs of whatwg-url are for a Node.js without; it would load Node's punycode, for which Node 21 and later warn.
    alias: {
      encoding: './scripts/absent-package.cjs',
      'whatwg-url': './scripts/absent-package.cjs',
      'react-devtools-core': './scripts/absent-package.cjs',
      'string-width': './scripts/lazy-string-width.cjs',
      'slice-ansi': './scripts/lazy-slice-ansi.cjs',
    },
    plugins: [withoutSubprocesses, withoutFetch, withoutSegmenter],
    logLevel: 'warning',
  };
}

/** Commander can start other programs as its commands; ours are none, and Node's module for it takes 10 ms to load. */
const withoutSubprocesses = {
  name: 'without-subprocesses',
  setup(build) {
    build.onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      /[\\/]commander[\\/]/.test(importer)
        ? build.resolve('./scripts/absent-package.cjs', {
            kind: 'import-statement',
            resolveDir: process.cwd(),
          })
        : undefined,
    );
  },
};

/** Ink's layout fetches its own code from a data: URL, for which Node loads its whole HTTP client; it can do without. */
const withoutFetch = {
  name: 'without-fetch',
  setup(build) {
    build.onLoad({ filter: /[\\/]yoga-wasm-base64-esm\.js$/ }, ({ path }) => ({
      contents: `const fetch = undefined;\n${readFileSync(path, 'utf8')}`,
    }));
  },
};

/** Ink splits texts into characters with a segmenter, which takes 7 ms to make; ours are places of lines, in ASCII. */
const withoutSegmenter = {
  name: 'without-segmenter',
  setup(build) {
    build.onLoad({ filter: /[\\/]ansi-tokenize[\\/]build[\\/]tokenize\.js$/ }, ({ path }) => ({
      contents: `${readFileSync(path, 'utf8').replace('new Intl.Segmenter(', 'segmenterLater(')}\n${segmenterLater}`,
    }));
  },
};

/** Into the bundle. */
function segmenterLater(...options) {
  let made;
  const segment = (text) => {
    if (/^[ -~]*$/.test(text)) return Array.from(text, (one, index) => ({ segment: one, index }));
    made ??= new Intl.Segmenter(...options);
    return made.segment(text);
  };
  return { segment };
}

/** How esbuild makes dist/main.js, with all commands; a test looks into the same bundle. */
export function bundleOptions() {
  return {
    ...commonOptions(),
    entryPoints: { main: 'src/main.ts' },
    splitting: true,
    format: 'esm',
    chunkNames: 'chunks/[name]-[hash]',
    // CommonJS dependencies call require() for Node's own modules; ESM output has none unless given one.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  };
}

/** A bundle in one file, which starts sooner: no modules to find, and V8 takes a code cache for it. */
function quickBundleOptions(name, source) {
  const options = commonOptions();
  return {
    ...options,
    entryPoints: { [name]: source },
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    define: { ...options.define, 'import.meta.url': '__bundleUrl' },
    banner: { js: "const __bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
  };
}

/** How esbuild makes dist/operator.cjs, from which bin/ starts the commands that ask once and end. */
export function operatorBundleOptions() {
  return {
    ...quickBundleOptions('operator', 'src/main.ts'),
    external: ['serve', 'agent', 'top', 'dial', 'demo'].map(sourceOf),
  };
}

/** How esbuild makes dist/screen.cjs, from which bin/ starts `top`. */
export function screenBundleOptions() {
  const options = quickBundleOptions('screen', 'src/main.ts');
  const others = [
    'serve',
    'agent',
    'agents',
    'tunnels',
    'drains',
    'events',
    'select',
    'why',
    'drain',
    'undrain',
  ];
  return {
    ...options,
    external: [...others, 'close', 'dial', 'demo'].map(sourceOf),
    plugins: [withoutAwaiting, ...options.plugins],
  };
}

/** What a bundle does not have: for these commands bin/ takes another one. */
function sourceOf(command) {
  return `./src/commands/${command}.ts`;
}

/** How esbuild makes dist/daemon.cjs, from which bin/ starts serve and agent. */
export function daemonBundleOptions() {
  return quickBundleOptions('daemon', 'src/daemon.ts');
}
