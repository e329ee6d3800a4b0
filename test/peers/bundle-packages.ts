import { isBuiltin } from 'node:module';
import { build, type Metafile } from 'esbuild';
import { bundleOptions } from '../../scripts/bundle-options.mjs';

/** What a command brings into its process, by npm package. */
export interface LoadedPackages {
  /** Loaded whenever the command runs, sorted. */
  readonly always: readonly string[];
  /** Loaded only when the code asks for it, without those of `always`. */
  readonly later: readonly string[];
  /** Imports that are neither in the bundle nor part of Node. */
  readonly outside: readonly string[];
}

/** Bundles the program as the build does, in memory. */
export async function bundleMetafile(): Promise<Metafile> {
  const { metafile } = await build({ ...bundleOptions(), metafile: true, write: false });
  return metafile;
}

/** What `source`, a file that main.ts imports lazily, brings along. */
export function loadedPackages(metafile: Metafile, source: string): LoadedPackages {
  const start = Object.entries(metafile.outputs)
    .filter(([, { entryPoint }]) => entryPoint === 'src/main.ts' || entryPoint === source)
    .map(([path]) => path);
  if (start.length !== 2)
    throw new Error(`${source} is no chunk of its own; main.ts has to import it lazily`);
  const main = start.find((path) => metafile.outputs[path]?.entryPoint === 'src/main.ts');
  // What main.ts imports lazily belongs to the other commands.
  const always = reach(metafile, start, () => false);
  const all = reach(metafile, start, (from) => from !== main);
  const packages = packagesOf(metafile, always);
  const later = [...packagesOf(metafile, all)].filter((name) => !packages.has(name));
  const outside = [...all].flatMap((path) =>
    (metafile.outputs[path]?.imports ?? [])
      .filter((one) => one.external && !isBuiltin(one.path))
      .map((one) => one.path),
  );
  return { always: [...packages].sort(), later: later.sort(), outside };
}

function reach(metafile: Metafile, start: readonly string[], lazily: (from: string) => boolean): Set<string> {
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const one of metafile.outputs[path]?.imports ?? []) {
      if (!one.external && (one.kind !== 'dynamic-import' || lazily(path))) visit(one.path);
    }
  };
  for (const path of start) visit(path);
  return seen;
}

function packagesOf(metafile: Metafile, outputs: Set<string>): Set<string> {
  const names = new Set<string>();
  for (const path of outputs) {
    for (const [input, { bytesInOutput }] of Object.entries(metafile.outputs[path]?.inputs ?? {})) {
      const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1];
      if (name !== undefined && bytesInOutput > 0) names.add(name);
    }
  }
  return names;
}
