import type { TopState } from '../state/top-state.ts';
import { type Line, line, span } from './span.ts';

/** Lines that a view has between the two of the head and the footer. */
export function viewRows({ rows }: Pick<TopState, 'rows'>): number {
  return Math.max(1, rows - 3);
}

/** So many lines of a longer text from `top` on; the last says when there is more. */
export function scrolled(all: readonly Line[], top: number, count: number): readonly Line[] {
  if (all.length <= count) return all;
  const from = Math.min(top, all.length - count);
  const below = all.length - from - count;
  const shown = all.slice(from, from + count);
  if (below === 0) return shown;
  return [...shown.slice(0, -1), line(span(`  … ${below + 1} more lines, PgDn`, 'quiet'))];
}
