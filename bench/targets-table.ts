import { align } from './align.ts';
import type { Verdict } from './targets.ts';

/** The targets that a run could check, one a line; nothing if there are none. */
export function formatTargets(verdicts: readonly Verdict[]): string[] {
  if (verdicts.length === 0) return [];
  const lines = verdicts.map(({ row, target, reached, verdict }) => [row, target, reached, verdict]);
  const missed = verdicts.filter(({ verdict }) => verdict === 'MISSED').length;
  return [
    '',
    ...align([['targets', 'wanted', 'reached', 'verdict'], ...lines]),
    `${verdicts.length - missed} of ${verdicts.length} targets met or stretch, ${missed} missed`,
  ];
}
