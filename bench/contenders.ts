import type { BenchOptions, PairCommands } from './options.ts';
import type { Contender } from './results.ts';

/** The pairs that a run compares, ours first. */
export function contendersOf({
  ours,
  peers,
}: Pick<BenchOptions, 'ours' | 'peers'>): { contender: Contender; commands: PairCommands }[] {
  const all = peers.map((commands) => ({
    contender: { side: 'peer' as const, variant: commands.extra.join(' ') },
    commands,
  }));
  if (ours === undefined) return all;
  return [{ contender: { side: 'ours', variant: ours.extra.join(' ') }, commands: ours }, ...all];
}
