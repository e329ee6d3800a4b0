import { writeFileSync } from 'node:fs';
import { align } from '../align.ts';
import { CleanUp } from '../clean-up.ts';
import { contendersOf } from '../contenders.ts';
import { describeMachine } from '../machine.ts';
import { untilReady } from '../measure.ts';
import type { FrontendKind, LoadOrder } from '../messages.ts';
import { type BenchOptions, type PairCommands, readOptions, USAGE } from '../options.ts';
import { Pair } from '../pair.ts';
import { makePki, type PkiFiles } from '../pki.ts';
import { Progress } from '../progress.ts';
import { restingMemory } from '../resting-memory.ts';
import type { Contender } from '../results.ts';
import { formatTargets } from '../targets-table.ts';
import { startWorkers, type Workers } from '../workers.ts';
import { type MemoryResult, memoryVerdicts, perTunnel } from './verdicts.ts';

const STEPS = [200, 1000, 5000];
const FRONTENDS: readonly FrontendKind[] = ['connect', 'grpc'];
/** Seconds that tunnels rest before memory is read. */
const DEFAULTS = { seconds: '12', warmup: '1' };
const OPEN_TIMEOUT_MS = 120_000;

interface Context {
  readonly options: BenchOptions;
  readonly workers: Workers;
  readonly pki: PkiFiles;
  readonly cleanUp: CleanUp;
  readonly progress: Progress;
}

/** Prints what open tunnels that rest cost server and agent, each pair fresh: memory at each number, and the slope. */
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
    const steps = options.tunnels ?? STEPS;
    const frontends = FRONTENDS.filter((frontend) => options.frontends.includes(frontend));
    const contenders = contendersOf(options);
    const context: Context = {
      options,
      workers: await startWorkers(cleanUp),
      pki: await makePki(cleanUp.directory),
      cleanUp,
      progress: new Progress(frontends.length * contenders.length * steps.length),
    };
    const results: MemoryResult[] = [];
    for (const frontend of frontends) {
      for (const { contender, commands } of contenders) {
        results.push(
          await measurePair(`${frontend}-${results.length}`, frontend, contender, commands, steps, context),
        );
      }
    }
    context.progress.end();
    const verdicts = memoryVerdicts(results);
    console.log([...format(steps, results), ...formatTargets(verdicts)].join('\n'));
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

async function measurePair(
  name: string,
  frontend: FrontendKind,
  contender: Contender,
  commands: PairCommands,
  steps: readonly number[],
  { options, workers, pki, cleanUp, progress }: Context,
): Promise<MemoryResult> {
  const { load, destination, ports } = workers;
  const pair = await Pair.start(name, commands, frontend, pki, cleanUp);
  try {
    await untilReady(workers, pair);
    const order: LoadOrder = { traffic: 'idle', tunnels: 1, entry: pair.entry, ports };
    await load.call('start', order);
    const readings: { tunnels: number; serverBytes: number; agentBytes: number }[] = [];
    for (const tunnels of steps) {
      await load.call('grow', tunnels, OPEN_TIMEOUT_MS);
      pair.truncateLog();
      const [serverBytes = 0, agentBytes = 0] = await restingMemory(
        [pair.serverPid, pair.agentPid],
        options.seconds * 1000,
      );
      await load.call('count');
      readings.push({ tunnels, serverBytes, agentBytes });
      const mb = [serverBytes, agentBytes].map((bytes) => (bytes / 1e6).toFixed(0)).join(' and ');
      progress.step(`${frontend}, ${contender.side} ${contender.variant}: ${tunnels} tunnels, ${mb} MB`);
    }
    await load.call('stop', undefined, OPEN_TIMEOUT_MS);
    await destination.call('idle', undefined, OPEN_TIMEOUT_MS);
    return { frontend, contender, readings };
  } catch (error) {
    throw new Error(`${contender.side} (${frontend}): ${(error as Error).message}\n${pair.logTail()}`);
  } finally {
    await load.call('destroy');
    await pair.stop();
    await destination.call('reset');
  }
}

function format(steps: readonly number[], results: readonly MemoryResult[]): string[] {
  const heads = ['idle tunnels', ...steps.map((n) => `MB at ${n}`), 'server KB/tunnel', 'agent KB/tunnel'];
  const lines = results.map((result) => {
    const { frontend, contender, readings } = result;
    const { serverKb, agentKb } = perTunnel(result);
    return [
      `${frontend}, ${contender.side}${contender.variant === '' ? '' : ` ${contender.variant}`}`,
      ...readings.map(({ serverBytes, agentBytes }) =>
        [serverBytes, agentBytes].map((bytes) => (bytes / 1e6).toFixed(1)).join(' / '),
      ),
      serverKb.toFixed(1),
      agentKb.toFixed(1),
    ];
  });
  return [
    ...align([heads, ...lines]),
    '',
    'MB: server / agent, resident, the least while the tunnels rested. KB/tunnel: what grew from the first to the last number.',
  ];
}
