import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { daemonBundleOptions } from '../../scripts/bundle-options.mjs';
import type { PairCommands } from '../options.ts';

const FEATURES = "['flow', ";

/** Takes `flow` off the list that both ends announce; everything else is the source as it is. */
const withoutFlow: Plugin = {
  name: 'without-flow',
  setup(plugin) {
    plugin.onLoad({ filter: /wire\/extension\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      if (!source.includes(FEATURES)) throw new Error(`${path} announces no flow`);
      return { contents: source.replace(FEATURES, '['), loader: 'ts' };
    });
  },
};

/**
 * Builds this checkout without flow control into `directory`: no option of the product turns it off.
 * @throws Error when the source does not announce it as expected
 */
export async function buildWithoutFlow(directory: string): Promise<Omit<PairCommands, 'extra'>> {
  const root = join(directory, 'without-flow');
  mkdirSync(root);
  writeFileSync(join(root, 'package.json'), '{"type":"module"}\n');
  cpSync('bin', join(root, 'bin'), { recursive: true });
  const options = daemonBundleOptions();
  await build({ ...options, outdir: join(root, 'dist'), plugins: [withoutFlow, ...(options.plugins ?? [])] });
  const program = join(root, 'bin', 'konnectivity-ts.js');
  return { serve: ['node', program, 'serve'], agent: ['node', program, 'agent'] };
}
