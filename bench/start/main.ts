import { writeFileSync } from 'node:fs';
import { startAgent } from '../agent-party.ts';
import { align, figure } from '../align.ts';
import { CleanUp } from '../clean-up.ts';
import { contendersOf } from '../contenders.ts';
import { describeMachine } from '../machine.ts';
import { type LoadOrder, nowMs } from '../messages.ts';
import { type BenchOptions, type PairCommands, readOptions, USAGE } from '../options.ts';
import { makePki, type PkiFiles } from '../pki.ts';
import { cpuMs } from '../process-usage.ts';
import { Progress } from '../progress.ts';
import type { Contender } from '../results.ts';
import { startServer } from '../server-party.ts';
import { median } from '../summary.ts';
import type { Verdict } from '../targets.ts';
import { formatTargets } from '../targets-table.ts';
import { startWorkers, type Workers } from '../workers.ts';
import { untilHealthy } from './until-healthy.ts';

const TIMEOUT_MS = 20_000;
const MAX_RATIO = 4;
const STRETCH_RATIO = 3;

/** One start of each, from the process' begin. */
interface StartSample {
  readonly serverMs: number;
  readonly serverCpuMs: number;
  readonly agentMs: number;
  readonly agentCpuMs: number;
}

interface StartResult {
  readonly contender: Contender;
  readonly samples: StartSample[];
}

/**
 * Prints how long a server takes from its start until /healthz says ok, and an agent until a dial through it is
 * answered; interleaved, `--rounds` of each (10).
 */
export async function run(args: string[]): Promise<void> {
  let options: BenchOptions;
  try {
    options = readOptions(['--rounds=10', ...args]);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exitCode = 2;
    return;
  }
  const cleanUp = new CleanUp();
  try {
    const workers = await startWorkers(cleanUp);
    const pki = await makePki(cleanUp.directory);
    const contenders = contendersOf(options);
    const results: StartResult[] = contenders.map(({ contender }) => ({ contender, samples: [] }));
    const progress = new Progress(options.rounds * contenders.length);
    for (let round = 0; round < options.rounds; round++) {
      for (const [i, { contender, commands }] of contenders.entries()) {
        const sample = await startOnce(`${contender.side}-${i}-${round}`, commands, workers, pki, cleanUp);
        results[i]?.samples.push(sample);
        progress.step(
          `${contender.side} ${contender.variant}: ${figure(sample.serverMs)}, ${figure(sample.agentMs)} ms`,
        );
      }
    }
    progress.end();
    const verdicts = judge(results);
    console.log([...format(results), ...formatTargets(verdicts)].join('\n'));
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

async function startOnce(
  name: string,
  commands: PairCommands,
  { load, ports }: Workers,
  pki: PkiFiles,
  cleanUp: CleanUp,
): Promise<StartSample> {
  const serverBeginMs = nowMs();
  const server = await startServer(name, commands, 'connect', pki, cleanUp);
  try {
    const serverMs = (await untilHealthy(server.healthPort, TIMEOUT_MS)) - serverBeginMs;
    const serverCpuMs = cpuMs(server.party.pid);
    const agentBeginMs = nowMs();
    const agent = await startAgent(name, commands, server.agentPort, pki, cleanUp);
    try {
      const order: LoadOrder = { traffic: 'echo', tunnels: 1, entry: server.entry, ports };
      const echoMs = await load.call<number>(
        'firstEcho',
        { order, timeoutMs: TIMEOUT_MS },
        TIMEOUT_MS + 1000,
      );
      return { serverMs, serverCpuMs, agentMs: echoMs - agentBeginMs, agentCpuMs: cpuMs(agent.pid) };
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${agent.logTail()}`);
    } finally {
      await agent.stop();
    }
  } finally {
    await server.party.stop();
  }
}

function medianOf({ samples }: StartResult, key: keyof StartSample): number {
  return median(samples.map((sample) => sample[key]));
}

function format(results: readonly StartResult[]): string[] {
  const heads = [
    'start',
    'server healthy ms [min-max]',
    'CPU ms',
    'agent, first dial answered ms [min-max]',
    'CPU ms',
  ];
  const spread = ({ samples }: StartResult, key: keyof StartSample): string => {
    const values = samples.map((sample) => sample[key]);
    return `${figure(median(values))} [${figure(Math.min(...values))}-${figure(Math.max(...values))}]`;
  };
  const lines = results.map((result) => [
    `${result.contender.side} ${result.contender.variant}`,
    spread(result, 'serverMs'),
    figure(medianOf(result, 'serverCpuMs')),
    spread(result, 'agentMs'),
    figure(medianOf(result, 'agentCpuMs')),
  ]);
  return align([heads, ...lines]);
}

function judge(results: readonly StartResult[]): Verdict[] {
  const ours = results.find(({ contender }) => contender.side === 'ours');
  const peers = results.filter(({ contender }) => contender.side === 'peer');
  if (ours === undefined || peers.length === 0) return [];
  return (['serverMs', 'agentMs'] as const).flatMap((key) => {
    const ratio = medianOf(ours, key) / Math.min(...peers.map((peer) => medianOf(peer, key)));
    const row = key === 'serverMs' ? 'start, server healthy' : 'start, agent to first answered dial';
    const reached = `${ratio.toFixed(2)}x`;
    return [
      {
        row,
        target: `at most ${MAX_RATIO}x of peer`,
        reached,
        verdict: ratio <= MAX_RATIO ? 'met' : 'MISSED',
      },
      {
        row,
        target: `at most ${STRETCH_RATIO}x of peer (stretch)`,
        reached,
        verdict: ratio <= STRETCH_RATIO ? 'met' : 'stretch missed',
      },
    ];
  });
}
