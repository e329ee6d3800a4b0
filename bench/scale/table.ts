import { align, figure, percent } from '../align.ts';
import type { Verdict } from '../targets.ts';
import type { LoadCost } from './load-cost.ts';
import type { Loads, ScaleResult, SizeResult } from './measure-server.ts';

/** How much dearer a dial or an echo may be among all agents than among few; the least that a short cell can tell. */
const MAX_GROWTH = 1.2;
/** Between these the memory of an agent is read, if both were measured. */
const SLOPE = [1000, 5000] as const;

/** Two tables: memory by fleet size, and what a load costs among few and among all agents. */
export function formatScale(results: readonly ScaleResult[], tunnels: number): string[] {
  const sizes = results[0]?.sizes.map(({ agents }) => agents) ?? [];
  const memory = results.map((result) => [
    nameOf(result),
    ...result.sizes.map(({ serverBytes, connectMs }) => `${mb(serverBytes)} (${figure(connectMs / 1000)} s)`),
    figure(kbPerAgent(result)),
  ]);
  const loads = results.flatMap((result) =>
    result.sizes.flatMap(({ agents, serverBytes, loads: some }) =>
      some === undefined ? [] : [loadLine(`${nameOf(result)}, ${agents} agents`, serverBytes, some)],
    ),
  );
  const heads = [
    `with ${tunnels} idle tunnels`,
    'MB before/with',
    'dial x1 p50/p99 us',
    'CPU us',
    'dials x16/s',
    'CPU us',
    'echo x64/s',
    'CPU us',
    'load busy',
    'list ms',
    'CPU ms',
    'CPU calm',
    'changes',
    'watched',
  ];
  return [
    ...align([['agents', ...sizes.map((n) => `MB at ${n}`), 'KB/agent'], ...memory]),
    '',
    ...align([heads, ...loads]),
    '',
    'In brackets: how long it took until so many were connected. CPU: of the server, per dial or echo, of one ListAgents, and',
    'in % of a core: calm, with 100 changes a second, and those watched by ten. load busy: of the load generator, in the three loads.',
  ];
}

function loadLine(name: string, beforeBytes: number, loads: Loads): string[] {
  const { serverBytes, dial, dials16, echo, admin } = loads;
  const costs = [dial, dials16, echo];
  return [
    name,
    `${mb(beforeBytes)}/${mb(serverBytes)}`,
    `${figure(dial.p50Us)}/${figure(dial.p99Us)}`,
    figure(dial.serverCpuUs),
    figure(dials16.perSecond),
    figure(dials16.serverCpuUs),
    figure(echo.perSecond),
    figure(echo.serverCpuUs),
    costs.map(({ loadBusy }) => percent(loadBusy)).join('/'),
    admin === undefined ? '-' : figure(admin.listMs),
    admin === undefined ? '-' : figure(admin.listCpuMs),
    ...(['calmPercent', 'changingPercent', 'watchedPercent'] as const).map((key) =>
      admin === undefined ? '-' : `${figure(admin[key])}%`,
    ),
  ];
}

function nameOf({ contender: { side, variant } }: ScaleResult): string {
  return variant === '' ? side : `${side} ${variant}`;
}

function mb(bytes: number): string {
  return figure(bytes / 1e6);
}

/** KB (1,000 bytes) that an agent more costs the server. */
function kbPerAgent({ sizes }: ScaleResult): number {
  const at = (agents: number): SizeResult | undefined => sizes.find((size) => size.agents === agents);
  const both = at(SLOPE[0]) !== undefined && at(SLOPE[1]) !== undefined;
  const [first, last] = both ? [at(SLOPE[0]), at(SLOPE[1])] : [sizes[0], sizes.at(-1)];
  if (first === undefined || last === undefined) return Number.NaN;
  return (last.serverBytes - first.serverBytes) / (last.agents - first.agents) / 1000;
}

/** Whether what our server does for a packet or a dial grew with the fleet. */
export function scaleVerdicts(results: readonly ScaleResult[]): Verdict[] {
  const ours = results.find(({ contender }) => contender.side === 'ours')?.sizes.filter(({ loads }) => loads);
  const [few, all] = [ours?.[0], ours?.at(-1)];
  if (few?.loads === undefined || all?.loads === undefined || few === all) return [];
  const verdict = (row: string, of: (loads: Loads) => LoadCost): Verdict => {
    const ratio = of(all.loads as Loads).serverCpuUs / of(few.loads as Loads).serverCpuUs;
    return {
      row: `${row} among ${all.agents} agents`,
      target: `CPU at most ${MAX_GROWTH}x of that among ${few.agents}`,
      reached: `${ratio.toFixed(2)}x`,
      verdict: ratio <= MAX_GROWTH ? 'met' : 'MISSED',
    };
  };
  return [verdict('echo x64', (loads) => loads.echo), verdict('dials x16', (loads) => loads.dials16)];
}
