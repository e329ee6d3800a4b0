import { figure } from '../align.ts';
import type { Results } from '../results.ts';
import type { Verdict } from '../targets.ts';
import type { IsolationRow } from './rows.ts';
import type { IsolationSample } from './sample.ts';
import { summarizeIsolation } from './summary.ts';

/** All downloads are to be done so many times sooner than through the peer. */
const MIN_SPEED = 1.2;
const MAX_MEMORY_MB = 250;

/** Checks what 500 downloads at once are to reach beside what their row says of the dials. */
export function downloadVerdicts(
  rows: readonly IsolationRow[],
  results: Results<IsolationSample>,
): Verdict[] {
  return rows
    .filter(({ beside }) => beside === 'downloads')
    .flatMap((row): Verdict[] => {
      const ours = summarizeIsolation(results.of(row), 'ours');
      const peer = summarizeIsolation(results.of(row), 'peer');
      if (ours === undefined) return [];
      const mb = Math.max(ours.serverPeakRssBytes, ours.agentPeakRssBytes) / 1e6;
      const memory: Verdict = {
        row: row.name,
        target: `no process above ${MAX_MEMORY_MB} MB`,
        reached: `${figure(mb)} MB`,
        verdict: mb <= MAX_MEMORY_MB ? 'met' : 'MISSED',
      };
      if (peer === undefined) return [memory];
      const ratio = peer.figure / ours.figure;
      const speed: Verdict = {
        row: row.name,
        target: `rate at least ${MIN_SPEED}x of peer`,
        reached: `${ratio.toFixed(2)}x`,
        verdict: ratio >= MIN_SPEED ? 'met' : 'MISSED',
      };
      return [speed, memory];
    });
}
