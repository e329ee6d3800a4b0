import type { Results } from '../results.ts';
import type { Row } from '../rows.ts';
import { median } from '../summary.ts';
import { cpuOf, type Verdict } from '../targets.ts';

const MAX_RATIO = 1.05;

/** CPU per MB or echo with flow control on against off: within 5 %, or within what the rounds differ among themselves. */
export function flowVerdicts(rows: readonly Row[], results: Results): Verdict[] {
  return rows.flatMap((row) => {
    const cpus = (side: 'ours' | 'off'): number[] =>
      results.of(row).flatMap((result) => (result.side === side ? result.samples.map(cpuOf) : []));
    const [on, off] = [cpus('ours'), cpus('off')];
    if (on.length === 0 || off.length === 0) return [];
    const ratio = median(on) / median(off);
    const met = ratio <= MAX_RATIO || Math.min(...on) <= Math.max(...off);
    return [
      {
        row: row.name,
        target: `CPU at most ${MAX_RATIO}x of off, or ranges overlap`,
        reached: `${ratio.toFixed(2)}x: ${range(on)} us, off ${range(off)} us`,
        verdict: met ? 'met' : 'MISSED',
      },
    ];
  });
}

function range(values: readonly number[]): string {
  return `${Math.min(...values).toFixed(0)}-${Math.max(...values).toFixed(0)}`;
}
