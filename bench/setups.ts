import { baselineCommands } from './baselines/commands.ts';
import { contendersOf } from './contenders.ts';
import { buildWithoutFlow } from './flow/without-flow.ts';
import type { FrontendKind } from './messages.ts';
import type { BenchOptions, PairCommands } from './options.ts';
import type { Contender } from './results.ts';
import type { Row } from './rows.ts';

/** What the rows of a group share: pairs that live through all of its rounds. */
export interface Setup {
  readonly frontend: FrontendKind;
  readonly linkMs: number;
  readonly rows: readonly Row[];
}

/** Rows by setup, in the order of the first of each. */
export function setupsOf(rows: readonly Row[]): Setup[] {
  const setups = new Map<string, Setup & { rows: Row[] }>();
  for (const row of rows) {
    const key = `${row.frontend} ${row.linkMs}`;
    const setup = setups.get(key) ?? { frontend: row.frontend, linkMs: row.linkMs, rows: [] };
    setups.set(key, setup);
    setup.rows.push(row);
  }
  return [...setups.values()];
}

/** All that run in a bench: the pairs of the options, and what the bench itself compares ours with. */
export async function contendersIn(
  bench: string,
  options: BenchOptions,
  directory: string,
): Promise<{ contender: Contender; commands: PairCommands }[]> {
  const ours = contendersOf({ ...options, peers: [] });
  const chain = {
    contender: { side: 'chain', variant: '' },
    commands: baselineCommands('chain'),
  } as const;
  switch (bench) {
    case 'chain':
      return [...ours, chain];
    case 'guard': {
      const naive = {
        contender: { side: 'naive', variant: '' },
        commands: baselineCommands('naive'),
      } as const;
      return [...ours, chain, naive];
    }
    case 'flow': {
      const contender = { side: 'off', variant: '' } as const;
      const extra = options.ours?.extra ?? [];
      return [...ours, { contender, commands: { ...(await buildWithoutFlow(directory)), extra } }];
    }
    default:
      return contendersOf(options);
  }
}
