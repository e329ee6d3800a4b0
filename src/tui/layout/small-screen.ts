import { LEAST_COLUMNS, LEAST_ROWS } from '../state/too-small.ts';
import { isStale, type TopState } from '../state/top-state.ts';
import { type Line, line, span } from './span.ts';

/** All that is said on a screen that is too small for more. */
export function smallScreen(state: TopState): Line {
  const counts = { ready: 0, draining: 0, drained: 0, gone: 0 };
  for (const { state: word } of state.agents.values()) counts[word]++;
  const { ready, draining, drained } = counts;
  const stale = isStale(state) ? ' stale' : '';
  return line(
    span(
      `${ready} ready ${draining} draining ${drained} drained${stale}; too small, ${LEAST_COLUMNS}x${LEAST_ROWS} at least; Ctrl-C quits`,
    ),
  );
}
