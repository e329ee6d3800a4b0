import { readFileSync } from 'node:fs';
import type { Verdict } from './targets.ts';
import { formatTargets } from './targets-table.ts';

/** Prints the targets that several runs checked, of the files that `--json` wrote, as one table. */
export function run(files: readonly string[]): void {
  try {
    if (files.length === 0) throw new Error('which files? npm run bench -- targets FILE...');
    const verdicts = files.flatMap((file) => {
      const { targets } = JSON.parse(readFileSync(file, 'utf8')) as { targets?: Verdict[] };
      if (targets === undefined) throw new Error(`${file} is no file that a bench wrote with --json`);
      return targets;
    });
    console.log(formatTargets(verdicts).join('\n').trim());
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 2;
  }
}
