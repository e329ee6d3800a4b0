import { pathToFileURL } from 'node:url';
import { Selector } from '../src/proxy/server/selection/selector.ts';
import type { StrategyName } from '../src/proxy/server/selection/strategies.ts';
import { StreamRegistry } from '../src/proxy/server/selection/stream-registry.ts';
import type { SelectableStream } from '../src/proxy/server/selection/stream-state.ts';
import { NO_IDENTIFIERS } from '../src/proxy/wire/identifiers.ts';

/** How many of the agents drain. */
const COLUMNS = {
  none: () => 0,
  half: (agents: number) => agents >> 1,
  'all but one': (agents: number) => agents - 1,
  all: (agents: number) => agents,
} as const;
type Column = keyof typeof COLUMNS;
const COLUMN_NAMES = Object.keys(COLUMNS) as Column[];

/** What is measured: the strategies in use, and where the agents and the dials are spread over. */
interface Row {
  readonly name: string;
  readonly strategies: readonly StrategyName[];
  /** True: every agent serves a host of its own. False: all of them serve one. */
  readonly manyHosts: boolean;
}

const ROWS: readonly Row[] = [
  { name: 'default', strategies: ['default'], manyHosts: false },
  { name: 'destHost, one host', strategies: ['destHost'], manyHosts: false },
  { name: 'destHost, a host each', strategies: ['destHost'], manyHosts: true },
];

const SIZES = [10, 1000, 10_000, 100_000];
const JUDGED_UP_TO = 10_000;
const LIMIT_NS = 200;
const LIMIT_RATIO = 1.5;
const ROUNDS = 15;
/** A busy neighbour slows all columns of a row for seconds: a row that fails is measured again before it counts. */
const ATTEMPTS = 3;
const SELECTIONS = 50_000;

interface Cell {
  readonly selector: Selector;
  readonly addresses: readonly string[];
  readonly samples: number[];
}

/**
 * Prints how long one selection takes, by strategy, fleet size and share of draining agents, and judges it: every
 * column within 1.5x of the one where nothing drains, and at 10,000 agents under 200 ns. Where each agent has a
 * host of its own, 10,000 agents are 10,000 pools and the time is that of finding one of them in cold memory: there
 * the ratios alone are judged.
 * @param args `--rounds=N` (15) for another number of interleaved rounds; a name limits the rows to those that
 *   contain it
 */
export async function run(args: string[]): Promise<void> {
  const rounds = Number(args.find((arg) => arg.startsWith('--rounds='))?.slice(9) ?? ROUNDS);
  const wanted = args.filter((arg) => !arg.startsWith('--'));
  const rows = ROWS.filter((row) => wanted.length === 0 || wanted.some((word) => row.name.includes(word)));
  console.log(`ns per selection, median of ${rounds} interleaved rounds of ${SELECTIONS}; draining agents:`);
  console.log(line('strategy', 'agents', [...COLUMN_NAMES], 'worst ratio', 'verdict'));
  let failures = 0;
  for (const row of rows) {
    for (const agents of SIZES) {
      const judged = agents <= JUDGED_UP_TO;
      let medians: number[];
      let worst: number;
      let good: boolean;
      let attempt = 0;
      do {
        medians = measure(row, agents, rounds);
        worst = Math.max(...medians) / (medians[0] as number);
        const quick = row.manyHosts || agents !== JUDGED_UP_TO || Math.max(...medians) < LIMIT_NS;
        good = worst <= LIMIT_RATIO && quick;
        attempt++;
      } while (judged && !good && attempt < ATTEMPTS);
      if (judged && !good) failures++;
      const base = medians[0] as number;
      const cells = medians.map((ns) => `${ns.toFixed(1)} (${(ns / base).toFixed(2)}x)`);
      const verdict = judged
        ? `${good ? 'ok' : 'TOO SLOW'}${attempt > 1 ? `, attempt ${attempt}` : ''}`
        : 'not judged';
      console.log(line(row.name, String(agents), cells, `${worst.toFixed(2)}x`, verdict));
    }
  }
  if (failures > 0) process.exitCode = 1;
}

function measure(row: Row, agents: number, rounds: number): number[] {
  const cells = COLUMN_NAMES.map((column) => makeCell(row, agents, COLUMNS[column](agents)));
  for (const cell of cells) time(cell);
  for (let round = 0; round < rounds; round++) {
    // Starting each round with another column, so that none always runs behind the same one.
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[(i + round) % cells.length] as Cell;
      cell.samples.push(time(cell));
    }
  }
  return cells.map((cell) => cell.samples.sort((a, b) => a - b)[cell.samples.length >> 1] as number);
}

function makeCell(row: Row, agents: number, draining: number): Cell {
  const registry = new StreamRegistry({ strategies: row.strategies, now: () => 0 });
  const hosts: string[] = [];
  const streams: SelectableStream[] = [];
  for (let i = 0; i < agents; i++) {
    const host = row.manyHosts ? `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}` : '10.0.0.1';
    hosts.push(host);
    const identifiers = { ...NO_IDENTIFIERS, ipv4: [host] };
    streams.push({ agentId: `agent-${i}`, identifiers, instance: undefined, announces: false });
  }
  for (const stream of streams) registry.register(stream);
  // Every agent in the same order in all columns, and the draining ones drawn from all over the fleet.
  for (let i = 0; i < draining; i++) registry.markDraining(streams[(i * 7919) % agents] as SelectableStream);
  // A dial's address brings no hash along: the host is cut out of it anew each time, as for a fresh packet.
  const distinct = row.manyHosts ? Math.min(agents, JUDGED_UP_TO) : 1024;
  const addresses = Array.from({ length: distinct }, (_, i) => `${hosts[(i * 104_729) % agents]}:10250`);
  return { selector: new Selector(registry), addresses, samples: [] };
}

let sink = 0;

function time({ selector, addresses }: Cell): number {
  const begin = process.hrtime.bigint();
  for (let i = 0, at = 0; i < SELECTIONS; i++) {
    if (selector.select(addresses[at] as string).stream !== undefined) sink++;
    if (++at === addresses.length) at = 0;
  }
  const ns = Number(process.hrtime.bigint() - begin) / SELECTIONS;
  if (sink === 0) throw new Error('nothing was selected');
  return ns;
}

function line(strategy: string, agents: string, cells: string[], worst: string, verdict: string): string {
  const middle = cells.map((cell) => cell.padStart(16)).join('');
  return `${strategy.padEnd(22)}${agents.padStart(8)}${middle}${worst.padStart(13)}  ${verdict}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await run(process.argv.slice(2));
