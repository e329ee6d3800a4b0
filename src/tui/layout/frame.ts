import { isTooSmall } from '../state/too-small.ts';
import { type TopState, viewOf } from '../state/top-state.ts';
import { agentsView } from './agents-view.ts';
import { asciiLines } from './ascii-lines.ts';
import { clip } from './clip.ts';
import { detailsView } from './details-view.ts';
import { overlay } from './dialog-box.ts';
import { dialogLines } from './dialog-lines.ts';
import { eventsView } from './events-view.ts';
import { footer } from './footer.ts';
import { header } from './header.ts';
import { helpView } from './help-view.ts';
import { viewRows } from './scrolled.ts';
import { selectionView } from './selection-view.ts';
import { smallScreen } from './small-screen.ts';
import { EMPTY_LINE, type Line } from './span.ts';
import { tunnelsView } from './tunnels-view.ts';

/** The whole screen: as many lines as it has rows, none wider than it has columns. */
export function frame(state: TopState): readonly Line[] {
  const lines = framed(state);
  return state.glyphs.asciiOnly ? asciiLines(lines) : lines;
}

function framed(state: TopState): readonly Line[] {
  const { columns, rows } = state;
  if (isTooSmall(state)) {
    return fill(smallScreen(state), rows);
  }
  const body = viewRows(state);
  const view = fill(viewLines(state, body), body);
  const under = [...header(state), ...view, footer(state)].map((line) =>
    clip(line, columns, state.glyphs.ellipsis),
  );
  return state.dialog === undefined ? under : overlay(under, dialogLines(state, state.dialog), state);
}

/** The view on top, in so many lines. */
function viewLines(state: TopState, lines: number): readonly Line[] {
  const view = viewOf(state);
  switch (view.kind) {
    case 'agents':
      return agentsView(state);
    case 'details':
      return detailsView(state, view, lines);
    case 'tunnels':
      return tunnelsView(state, view, lines);
    case 'events':
      return eventsView(state, view, lines);
    case 'selection':
      return selectionView(state, view, lines);
    case 'help':
      return helpView(state, view, lines);
  }
}

function fill(lines: readonly Line[], count: number): readonly Line[] {
  if (lines.length >= count) return lines.slice(0, count);
  return [...lines, ...Array.from({ length: count - lines.length }, () => EMPTY_LINE)];
}
