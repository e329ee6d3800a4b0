// Compiles test files, with the sources that they use, once: each runs in a process of its own, and transforming and
// resolving some hundred modules there again and again takes longer than most tests.
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { processExists } from './process-exists.mjs';

/** Git, and with it Biome, ignores it. */
const ROOT = '.compiled-tests';

/** Sources go on to find what lies beside them in the checkout. */
const sourceUrls = {
  name: 'source-urls',
  setup(build) {
    build.onLoad({ filter: /\.tsx?$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta.url')) return undefined;
      const url = JSON.stringify(pathToFileURL(path).href);
      return { contents: text.replaceAll('import.meta.url', url), loader: path.endsWith('x') ? 'tsx' : 'ts' };
    });
  },
};

/**
 * Compiles into a folder that belongs to this process.
 * @param files paths of test files, from the folder of the project, in the order in which they shall run
 * @returns what each became, in their order, and how to remove it all
 */
export async function compileTests(files) {
  removeLeftovers();
  // Node runs files in the order of their names, whatever order they are given in.
  const outputs = files.map((file, i) => {
    const place = String(i).padStart(String(files.length).length, '0');
    return `${place}-${file
      .replace(/^test\//, '')
      .replace(/\.ts$/, '')
      .replaceAll('/', '-')}`;
  });
  const outdir = `${ROOT}/${process.pid}`;
  mkdirSync(outdir, { recursive: true });
  const remove = () => rmSync(outdir, { recursive: true, force: true });
  try {
    await build({
      entryPoints: files.map((file, i) => ({ in: file, out: outputs[i] })),
      outdir,
      bundle: true,
      splitting: true,
      chunkNames: 'chunks/[hash]',
      format: 'esm',
      platform: 'node',
      target: 'node20',
      packages: 'external',
      sourcemap: 'linked',
      sourcesContent: false,
      plugins: [sourceUrls],
      logLevel: 'warning',
    });
  } catch (error) {
    remove();
    throw error;
  }
  return { compiled: outputs.map((output) => `${outdir}/${output}.js`), remove };
}

/** Removes what runs that were killed left. */
function removeLeftovers() {
  mkdirSync(ROOT, { recursive: true });
  for (const name of readdirSync(ROOT)) {
    if (!processExists(Number(name))) rmSync(`${ROOT}/${name}`, { recursive: true, force: true });
  }
}
