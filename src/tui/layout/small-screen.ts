import { LEAST_COLUMNS, LEAST_ROWS } from '../state/too-small.ts';
import { isStale, type TopState } from '../state/top-state.ts';
import { wrapText } from '../text/wrap-text.ts';
import { type Line, line, span } from './span.ts';

/** All that is said on a screen that is too small for more: one line, where it is wide enough. */
export function smallScreen(state: TopState): readonly Line[] {
  const counts = { ready: 0, draining: 0, drained: 0, gone: 0 };
  for (const { state: word } of state.agents.values()) counts[word]++;
  const { ready, draining, drained } = counts;
  const stale = isStale(state) ? ' stale' : '';
  const least = `${LEAST_COLUMNS}x${LEAST_ROWS} at least`;
  const text = `${ready} ready ${draining} draining ${drained} drained${stale}; too small, ${least}; Ctrl-C quits`;
  return wrapText(text, state.columns).map((part) => line(span(part)));
}
