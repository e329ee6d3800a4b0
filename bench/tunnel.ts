import { writeFileSync } from 'node:fs';
import { CleanUp } from './clean-up.ts';
import { contendersOf } from './contenders.ts';
import { describeMachine } from './machine.ts';
import { measure, type Sample, untilReady } from './measure.ts';
import type { Entry, FrontendKind } from './messages.ts';
import { type BenchOptions, readOptions, USAGE } from './options.ts';
import { Pair } from './pair.ts';
import { makePki, type PkiFiles } from './pki.ts';
import { Progress } from './progress.ts';
import { type Contender, Results } from './results.ts';
import { type Row, rowsOf } from './rows.ts';
import { unitName } from './summary.ts';
import { formatTable } from './table.ts';
import { startWorkers, type Workers } from './workers.ts';

interface Runner {
  readonly contender: Contender;
  readonly entry: Entry;
  /** None for the ceiling: load generator and destination without anything between them. */
  readonly pair: Pair | undefined;
  readonly rounds: number;
}

/** Runs the rows of `bench` against all pairs, interleaved, and prints the table. */
export async function run(bench: string, args: string[]): Promise<void> {
  let options: BenchOptions;
  try {
    options = readOptions(args);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exitCode = 2;
    return;
  }
  const rows = rowsOf(bench, options);
  const cleanUp = new CleanUp();
  try {
    const results = await runRows(rows, options, cleanUp);
    console.log(formatTable(rows, results));
    if (options.jsonFile !== undefined) writeFileSync(options.jsonFile, describe(rows, results, options));
    if (results.failures.length > 0) process.exitCode = 1;
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  } finally {
    cleanUp.run();
  }
}

async function runRows(rows: Row[], options: BenchOptions, cleanUp: CleanUp): Promise<Results> {
  const results = new Results();
  const workers = await startWorkers(cleanUp);
  const pki = await makePki(cleanUp.directory);
  const perRow = options.rounds * contendersOf(options).length + (options.ceiling ? 1 : 0);
  const progress = new Progress(rows.length * perRow);
  for (const frontend of options.frontends) {
    const own = rows.filter((row) => row.frontend === frontend);
    if (own.length === 0) continue;
    const runners = await startRunners(frontend, options, workers, pki, cleanUp);
    for (let round = 0; round < options.rounds; round++) {
      for (const row of own) {
        // Turn about, so that none always runs behind the same one.
        for (const runner of round % 2 === 0 ? runners : runners.toReversed()) {
          if (round < runner.rounds) await runCell(workers, row, runner, options, results, progress);
        }
      }
    }
    for (const { pair } of runners) await pair?.stop();
  }
  progress.end();
  return results;
}

async function startRunners(
  frontend: FrontendKind,
  options: BenchOptions,
  workers: Workers,
  pki: PkiFiles,
  cleanUp: CleanUp,
): Promise<Runner[]> {
  const runners: Runner[] = [];
  for (const { contender, commands } of contendersOf(options)) {
    const name = `${contender.side}-${frontend}-${runners.length}`;
    try {
      const pair = await Pair.start(name, commands, frontend, pki, cleanUp);
      await untilReady(workers, pair);
      runners.push({ contender, entry: pair.entry, pair, rounds: options.rounds });
    } catch (error) {
      throw new Error(`${contender.side} (${frontend}): ${(error as Error).message}`);
    }
  }
  if (options.ceiling) {
    const entry: Entry =
      frontend === 'grpc' ? { kind: 'grpc', socketPath: workers.stubSocketPath } : { kind: 'direct' };
    runners.push({ contender: { side: 'ceiling', variant: '' }, entry, pair: undefined, rounds: 1 });
  }
  return runners;
}

async function runCell(
  workers: Workers,
  row: Row,
  { contender, entry, pair }: Runner,
  options: BenchOptions,
  results: Results,
  progress: Progress,
): Promise<void> {
  try {
    const sample: Sample = await measure(workers, row, entry, pair, options);
    results.add(row, contender, sample);
    progress.step(`${row.name}, ${contender.side}: ${sample.rate.toFixed(0)} ${unitName(row.traffic)}`);
  } catch (error) {
    results.fail(row, contender, (error as Error).message);
    progress.step(`${row.name}, ${contender.side}: FAILED: ${(error as Error).message}`);
  }
}

function describe(rows: Row[], results: Results, options: BenchOptions): string {
  const lines = rows.map((row) => ({ ...row, unit: unitName(row.traffic), results: results.of(row) }));
  return `${JSON.stringify({ machine: describeMachine(), options, rows: lines, failures: results.failures }, null, 2)}\n`;
}
