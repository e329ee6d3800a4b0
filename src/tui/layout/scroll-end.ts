import type { TopState, View } from '../state/top-state.ts';
import { detailsView } from './details-view.ts';
import { helpView } from './help-view.ts';
import { viewRows } from './scrolled.ts';
import { selectionView } from './selection-view.ts';

/** How far a view of text can be scrolled on this screen: its last line is at the bottom then. */
export function scrollEnd(state: TopState, view: View & { kind: 'details' | 'help' | 'selection' }): number {
  return Math.max(0, wholeView(state, view).length - viewRows(state));
}

function wholeView(state: TopState, view: View & { kind: 'details' | 'help' | 'selection' }) {
  const all = Number.POSITIVE_INFINITY;
  switch (view.kind) {
    case 'details':
      return detailsView(state, view, all);
    case 'help':
      return helpView(state, view, all);
    case 'selection':
      return selectionView(state, view, all);
  }
}
