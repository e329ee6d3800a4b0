import type { TextField } from '../state/text-field.ts';
import type { TopState } from '../state/top-state.ts';
import { graphemes, safeText, widthOf } from '../text/safe-text.ts';
import { type Span, span } from './span.ts';

/** A text field, with the cursor where it is being typed into; a long text is shown around the cursor. */
export function fieldSpans(
  field: TextField,
  focused: boolean,
  { glyphs }: Pick<TopState, 'glyphs'>,
  width: number,
): Span[] {
  const parts = graphemes(field.text).map(safeText);
  if (!focused) return [span(take(parts, width))];
  let from = 0;
  while (widthOf(parts.slice(from, field.cursor).join('')) >= width && from < field.cursor) from++;
  const before = parts.slice(from, field.cursor).join('');
  const rest = take(parts.slice(field.cursor), width - widthOf(before) - 1);
  return [span(before, 'strong'), span(glyphs.cursor, 'strong'), span(rest, 'strong')];
}

function take(parts: readonly string[], width: number): string {
  let text = '';
  for (const part of parts) {
    if (widthOf(text + part) > width) break;
    text += part;
  }
  return text;
}
