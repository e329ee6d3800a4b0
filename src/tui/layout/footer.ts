import { bindingsOf } from '../keys.ts';
import { mayAct, type TopState, viewOf } from '../state/top-state.ts';
import { cutEnd, safeText } from '../text/safe-text.ts';
import { fitPieces, type Piece } from './clip.ts';
import { fieldSpans } from './field-spans.ts';
import { type Line, line, span } from './span.ts';

/** The last line: what an action brought, the filter that is typed, or the keys. */
export function footer(state: TopState): Line {
  const { result, table, glyphs, columns } = state;
  if (result !== undefined) {
    const text = cutEnd(safeText(result.text), columns - 2, glyphs.ellipsis);
    return line(span(' '), span(text, result.tone === 'bad' ? 'bad' : 'strong'));
  }
  if (table.typing !== undefined) {
    const found = `  ${table.order.length} of ${state.agents.size}; enter keeps it, esc does not`;
    return line(
      span(' filter: ', 'strong'),
      ...fieldSpans(table.typing, true, state, columns - 12),
      span(found, 'quiet'),
    );
  }
  if (state.dialog !== undefined) {
    return line(
      span(' '),
      span('tab', 'key'),
      span(' next  '),
      span('enter', 'key'),
      span(' press  '),
      span('esc', 'key'),
      span(' cancel'),
    );
  }
  const view = viewOf(state);
  const base = view.kind === 'agents' && table.filter === '' && !table.drainingOnly;
  const pieces: Piece[] = bindingsOf(view.kind, mayAct(state), state.inDemo)
    .filter(({ label, action }) => label !== undefined && !(base && action === 'back'))
    .filter(({ action }) => state.servers.length > 1 || action !== 'next-server')
    .map(({ shown, label = '', priority = 9 }) => ({
      priority,
      spans: [span(shown, 'key'), span(` ${label}`, 'quiet')],
    }));
  const kept = fitPieces(pieces, columns - 2, 2);
  return line(span(' '), ...kept.flatMap(({ spans }, i) => (i === 0 ? spans : [span('  '), ...spans])));
}
