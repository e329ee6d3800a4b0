import { writeFileSync } from 'node:fs';
import { CleanUp } from '../clean-up.ts';
import { contendersOf } from '../contenders.ts';
import { describeMachine } from '../machine.ts';
import { type BenchOptions, readOptions, USAGE } from '../options.ts';
import { makePki } from '../pki.ts';
import { Progress } from '../progress.ts';
import { Results } from '../results.ts';
import type { Verdict } from '../targets.ts';
import { formatTargets } from '../targets-table.ts';
import { startWorkers } from '../workers.ts';
import { type CellContext, runCell } from './cell.ts';
import { downloadVerdicts } from './download-verdicts.ts';
import { type IsolationRow, isolationRows } from './rows.ts';
import type { IsolationSample } from './sample.ts';
import { formatIsolation } from './table.ts';

/** Cells are longer than those of `tunnel`: the p99 of few dials is that of one. */
const DEFAULTS = { seconds: '5', warmup: '2' };

/** Runs the rows of `isolation` or `downloads` against all pairs, interleaved, and prints the table. */
export async function run(bench: string, args: string[]): Promise<void> {
  let options: BenchOptions;
  try {
    options = readOptions(args, DEFAULTS);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exitCode = 2;
    return;
  }
  const rows = isolationRows(bench, options);
  const cleanUp = new CleanUp();
  try {
    const results = await runRows(rows, options, cleanUp);
    const targets = downloadVerdicts(rows, results);
    console.log([formatIsolation(rows, results), ...formatTargets(targets)].join('\n'));
    if (options.jsonFile !== undefined) {
      writeFileSync(options.jsonFile, describe(rows, results, targets, options));
    }
    if (results.failures.length > 0) process.exitCode = 1;
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  } finally {
    cleanUp.run();
  }
}

async function runRows(
  rows: readonly IsolationRow[],
  options: BenchOptions,
  cleanUp: CleanUp,
): Promise<Results<IsolationSample>> {
  const results = new Results<IsolationSample>();
  const context: CellContext = {
    healthy: await startWorkers(cleanUp, 'healthy'),
    beside: await startWorkers(cleanUp, 'beside'),
    options,
    pki: await makePki(cleanUp.directory),
    cleanUp,
  };
  const contenders = contendersOf(options);
  const progress = new Progress(rows.length * contenders.length * options.rounds);
  let cell = 0;
  for (let round = 0; round < options.rounds; round++) {
    for (const row of rows) {
      // Turn about, so that none always runs behind the same one.
      for (const { contender, commands } of round % 2 === 0 ? contenders : contenders.toReversed()) {
        const what = `${row.name}, ${contender.side}`;
        try {
          const sample = await runCell(`${contender.side}-${cell++}`, row, commands, context);
          results.add(row, contender, sample);
          progress.step(`${what}: ${describeSample(sample)}`);
        } catch (error) {
          results.fail(row, contender, (error as Error).message);
          progress.step(`${what}: FAILED: ${(error as Error).message}`);
        }
      }
    }
  }
  progress.end();
  return results;
}

function describeSample(sample: IsolationSample): string {
  if (sample.outcome === 'stalled') return 'stalled';
  return `p99 ${(sample.p99Us / 1000).toFixed(2)} ms`;
}

function describe(
  rows: readonly IsolationRow[],
  results: Results<IsolationSample>,
  targets: readonly Verdict[],
  options: BenchOptions,
): string {
  const lines = rows.map((row) => ({ ...row, results: results.of(row) }));
  const run = { machine: describeMachine(), options, rows: lines, targets, failures: results.failures };
  return `${JSON.stringify(run, null, 2)}\n`;
}
