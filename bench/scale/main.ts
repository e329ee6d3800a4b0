import { writeFileSync } from 'node:fs';
import { CleanUp } from '../clean-up.ts';
import { contendersOf } from '../contenders.ts';
import { describeMachine } from '../machine.ts';
import { type BenchOptions, readOptions, USAGE } from '../options.ts';
import { makePki } from '../pki.ts';
import { formatTargets } from '../targets-table.ts';
import { startWorkers } from '../workers.ts';
import { SimulatedFleet } from './fleet.ts';
import { measureServer, type ScaleResult } from './measure-server.ts';
import { formatScale, scaleVerdicts } from './table.ts';

const SIZES = [10, 1000, 5000, 10_000];
/** Each keeps thousands of TLS connections: more of them than cores, because a process may hold 20,000 descriptors. */
const DRIVERS = 2;
/** Seconds that memory rests and that each load lasts. */
const DEFAULTS = { seconds: '5', warmup: '1' };

/** Prints what a fleet of simulated agents costs one server: memory, dials, echoes, the admin list and watches. */
export async function run(args: string[]): Promise<void> {
  let options: BenchOptions;
  try {
    options = readOptions(args, DEFAULTS);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exitCode = 2;
    return;
  }
  const cleanUp = new CleanUp();
  try {
    const context = {
      options,
      sizes: options.agents ?? SIZES,
      tunnels: options.tunnels?.[0] ?? 5000,
      workers: await startWorkers(cleanUp),
      idle: await startWorkers(cleanUp, 'idle'),
      fleet: new SimulatedFleet(DRIVERS, cleanUp),
      pki: await makePki(cleanUp.directory),
      cleanUp,
    };
    const results: ScaleResult[] = [];
    for (const { contender, commands } of contendersOf(options)) {
      results.push(await measureServer(`${contender.side}-${results.length}`, contender, commands, context));
    }
    const verdicts = scaleVerdicts(results);
    console.log([...formatScale(results, context.tunnels), ...formatTargets(verdicts)].join('\n'));
    if (options.jsonFile !== undefined) {
      const run = { machine: describeMachine(), options, results, targets: verdicts };
      writeFileSync(options.jsonFile, `${JSON.stringify(run, null, 2)}\n`);
    }
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  } finally {
    cleanUp.run();
  }
}
