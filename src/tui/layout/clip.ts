import { cutEnd, widthOf } from '../text/safe-text.ts';
import type { Line, Span } from './span.ts';

/** The line in at most so many cells; the ellipsis stands where something is missing. */
export function clip(line: Line, columns: number, ellipsis = ''): Line {
  let left = columns;
  const spans: Span[] = [];
  for (const one of line.spans) {
    const width = widthOf(one.text);
    if (width <= left) {
      spans.push(one);
      left -= width;
      continue;
    }
    if (left > 0) spans.push({ ...one, text: cutEnd(one.text, left, ellipsis) });
    break;
  }
  return { ...line, spans };
}

/** Cells that a line takes. */
export function lineWidth({ spans }: Line): number {
  return spans.reduce((sum, { text }) => sum + widthOf(text), 0);
}

/** A piece of a line that gives way when room is short; 0 never does. */
export interface Piece {
  readonly priority: number;
  readonly spans: readonly Span[];
}

/** As many pieces as fit, in their order, with a gap between them; the least important go first. */
export function fitPieces(pieces: readonly Piece[], columns: number, gap: number): readonly Piece[] {
  const widths = pieces.map(({ spans }) => lineWidth({ spans }));
  const kept = new Set(pieces.keys());
  const total = (): number => [...kept].reduce((sum, i) => sum + (widths[i] ?? 0) + gap, -gap);
  while (total() > columns && kept.size > 1) {
    let worst: number | undefined;
    for (const i of kept) {
      const priority = pieces[i]?.priority ?? 0;
      if (priority > 0 && (worst === undefined || priority >= (pieces[worst]?.priority ?? 0))) worst = i;
    }
    if (worst === undefined) break;
    kept.delete(worst);
  }
  return pieces.filter((_, i) => kept.has(i));
}
