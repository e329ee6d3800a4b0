import { writeFileSync } from 'node:fs';
import { CleanUp } from './clean-up.ts';
import { flowVerdicts } from './flow/verdicts.ts';
import { FLOORS } from './guard/floors.ts';
import type { RelayOrder } from './link/relay.ts';
import { describeMachine } from './machine.ts';
import { measure, type Sample, untilReady } from './measure.ts';
import type { Entry } from './messages.ts';
import { type BenchOptions, readOptions, USAGE } from './options.ts';
import { Pair } from './pair.ts';
import { makePki, type PkiFiles } from './pki.ts';
import { Progress } from './progress.ts';
import { type Contender, Results } from './results.ts';
import { type Row, rowsOf } from './rows.ts';
import { contendersIn, type Setup, setupsOf } from './setups.ts';
import { unitName } from './summary.ts';
import { formatTable } from './table.ts';
import { check, TARGETS, type Verdict } from './targets.ts';
import { formatTargets } from './targets-table.ts';
import { startWorkers, type Workers } from './workers.ts';

interface Runner {
  readonly contender: Contender;
  readonly entry: Entry;
  /** None for the ceiling: load generator and destination without anything between them. */
  readonly pair: Pair | undefined;
  readonly rounds: number;
}

interface Context {
  readonly options: BenchOptions;
  readonly workers: Workers;
  readonly pki: PkiFiles;
  readonly cleanUp: CleanUp;
  readonly contenders: Awaited<ReturnType<typeof contendersIn>>;
  readonly results: Results;
  readonly progress: Progress;
}

// A proxy runs for months, and V8 compiles what is hot in its first seconds, with a core of its own.
const WARM = { seconds: '2', warmup: '3' };
const TIMES: Readonly<Record<string, { seconds: string; warmup: string }>> = {
  bulk: WARM,
  echo: WARM,
  dials: WARM,
  // To be done within two minutes.
  guard: { seconds: '1', warmup: '0.3' },
  // Windows grow with every round trip.
  link: { seconds: '2.5', warmup: '2' },
};

/** Runs the rows of `bench` against all pairs, interleaved, and prints the table and what became of the targets. */
export async function run(bench: string, args: string[]): Promise<void> {
  const guard = bench === 'guard';
  let options: BenchOptions;
  try {
    options = readOptions(args, TIMES[bench]);
    if (guard) options = { ...options, ceiling: false };
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exitCode = 2;
    return;
  }
  const rows = rowsOf(bench, options);
  const cleanUp = new CleanUp();
  try {
    const results = await runRows(bench, rows, options, cleanUp);
    const verdicts =
      bench === 'flow' ? flowVerdicts(rows, results) : check(guard ? FLOORS : TARGETS, rows, results);
    console.log([formatTable(rows, results), ...formatTargets(verdicts)].join('\n'));
    if (options.jsonFile !== undefined) {
      writeFileSync(options.jsonFile, describe(rows, results, verdicts, options));
    }
    const broken = guard && verdicts.some(({ verdict }) => verdict === 'MISSED');
    if (results.failures.length > 0 || broken) process.exitCode = 1;
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  } finally {
    cleanUp.run();
  }
}

async function runRows(
  bench: string,
  rows: Row[],
  options: BenchOptions,
  cleanUp: CleanUp,
): Promise<Results> {
  const contenders = await contendersIn(bench, options, cleanUp.directory);
  const perRow = options.rounds * contenders.length + (options.ceiling ? 1 : 0);
  const progress = new Progress(rows.length * perRow);
  const workers = await startWorkers(cleanUp);
  const pki = await makePki(cleanUp.directory);
  const context = { options, workers, pki, cleanUp, contenders, results: new Results(), progress };
  for (const setup of setupsOf(rows)) {
    const runners = await startRunners(setup, context);
    for (let round = 0; round < options.rounds; round++) {
      for (const row of setup.rows) {
        // Turn about, so that none always runs behind the same one.
        for (const runner of round % 2 === 0 ? runners : runners.toReversed()) {
          if (round < runner.rounds) await runCell(row, runner, context);
        }
      }
    }
    for (const { pair } of runners) await pair?.stop();
  }
  progress.end();
  return context.results;
}

async function startRunners(
  setup: Setup,
  { options, workers, pki, cleanUp, contenders }: Context,
): Promise<Runner[]> {
  const { frontend, linkMs } = setup;
  const runners: Runner[] = [];
  const link =
    linkMs === 0
      ? undefined
      : async (port: number): Promise<number> =>
          await workers.relay.call<number>('open', {
            host: '127.0.0.1',
            port,
            delayMs: linkMs,
          } satisfies RelayOrder);
  for (const { contender, commands } of contenders) {
    const name = `${contender.side}-${frontend}-${linkMs}-${runners.length}`;
    try {
      const pair = await Pair.start(name, commands, frontend, pki, cleanUp, link);
      await untilReady(workers, pair);
      runners.push({ contender, entry: pair.entry, pair, rounds: options.rounds });
    } catch (error) {
      throw new Error(`${contender.side} (${frontend}): ${(error as Error).message}`);
    }
  }
  if (options.ceiling) {
    const entry = await ceilingEntry(setup, workers);
    runners.push({ contender: { side: 'ceiling', variant: '' }, entry, pair: undefined, rounds: 1 });
  }
  return runners;
}

/** Straight to the destination, over the relay of a long link if there is one, or to the destination's gRPC stub. */
async function ceilingEntry({ frontend, linkMs }: Setup, workers: Workers): Promise<Entry> {
  if (frontend === 'grpc' || frontend === 'grpc-shared') {
    return { kind: frontend, socketPath: workers.stubSocketPath };
  }
  if (linkMs === 0) return { kind: 'direct' };
  const through: Record<number, number> = {};
  for (const port of [workers.ports.sink, workers.ports.source]) {
    const order: RelayOrder = { host: '127.0.0.2', port, delayMs: linkMs };
    through[port] = await workers.relay.call<number>('open', order);
  }
  return { kind: 'direct', through };
}

async function runCell(
  row: Row,
  { contender, entry, pair }: Runner,
  { workers, options, results, progress }: Context,
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

function describe(rows: Row[], results: Results, targets: readonly Verdict[], options: BenchOptions): string {
  const lines = rows.map((row) => ({ ...row, unit: unitName(row.traffic), results: results.of(row) }));
  const { failures } = results;
  return `${JSON.stringify({ machine: describeMachine(), options, rows: lines, targets, failures }, null, 2)}\n`;
}
