import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const WASM = /"data:application\/octet-stream;base64,([\w+/=]+)"/;

/**
 * A bundle in one file cannot await while it loads, as Ink's modules do for its layout and for React's development tools:
 * the layout is compiled at once (5 ms), the tools are not there. If one of them awaits something else some day, esbuild
 * says so.
 */
export const withoutAwaiting = {
  name: 'without-awaiting',
  setup(build) {
    build.onLoad({ filter: /[\\/]yoga-layout[\\/]dist[\\/]src[\\/]index\.js$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8').replace('await loadYoga()', 'loadAtOnce(loadYoga)');
      const [, wasm] = WASM.exec(readFileSync(join(path, '../../binaries/yoga-wasm-base64-esm.js'), 'utf8'));
      return { contents: `const WASM = "${wasm}";\n${source}\n${loadAtOnce}` };
    });
    build.onLoad({ filter: /[\\/]yoga-wasm-base64-esm\.js$/ }, ({ path }) => ({
      contents: `const fetch = undefined;\n${readFileSync(path, 'utf8').replace(WASM, '""')}`,
    }));
    build.onLoad({ filter: /[\\/]ink[\\/]build[\\/]reconciler\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8')
        .replace("await import('./devtools.js')", '')
        .replace('await loadPackageJson()', '{}'),
    }));
  },
};

/** Into the bundle: what emscripten made fills its module before it returns when it is handed an instance. */
function loadAtOnce(load) {
  const lib = {
    instantiateWasm: (imports, done) => {
      const instance = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(WASM, 'base64')), imports);
      done(instance);
      return instance.exports;
    },
  };
  load(lib);
  return lib;
}
