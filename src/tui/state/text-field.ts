import type { Key } from '../terminal/key.ts';
import { graphemes } from '../text/safe-text.ts';

/** One line of text that is being typed. */
export interface TextField {
  readonly text: string;
  /** Graphemes before the cursor. */
  readonly cursor: number;
}

export const EMPTY_FIELD: TextField = { text: '', cursor: 0 };
const MAX_LENGTH = 256;

export function fieldOf(text: string): TextField {
  return { text, cursor: graphemes(text).length };
}

/** The field after a key; undefined when the key means nothing to a text field. */
export function editField(field: TextField, key: Key): TextField | undefined {
  const parts = graphemes(field.text);
  const { cursor } = field;
  const insert = (text: string): TextField => {
    const added = graphemes(text);
    if (parts.length + added.length > MAX_LENGTH) return field;
    const text2 = [...parts.slice(0, cursor), ...added, ...parts.slice(cursor)].join('');
    // Joined again, because a combining mark becomes one with what is before it.
    return { text: text2, cursor: graphemes(text2).length - (parts.length - cursor) };
  };
  const without = (from: number, to: number): TextField => ({
    text: [...parts.slice(0, from), ...parts.slice(to)].join(''),
    cursor: from,
  });
  if (key.kind === 'text') return insert(key.text);
  if (key.kind === 'paste')
    return insert(
      key.text
        .replace(/\s+/g, ' ')
        .replace(/\p{Cc}/gu, '')
        .trim(),
    );
  switch (key.name) {
    case 'backspace':
      return cursor === 0 ? field : without(cursor - 1, cursor);
    case 'delete':
      return { ...without(cursor, cursor + 1), cursor };
    case 'left':
      return { ...field, cursor: Math.max(0, cursor - 1) };
    case 'right':
      return { ...field, cursor: Math.min(parts.length, cursor + 1) };
    case 'home':
    case 'ctrl-a':
      return { ...field, cursor: 0 };
    case 'end':
    case 'ctrl-e':
      return { ...field, cursor: parts.length };
    case 'ctrl-u':
      return without(0, cursor);
    case 'ctrl-k':
      return { ...without(cursor, parts.length), cursor };
    case 'ctrl-w': {
      let from = cursor;
      while (from > 0 && parts[from - 1] === ' ') from--;
      while (from > 0 && parts[from - 1] !== ' ') from--;
      return without(from, cursor);
    }
    default:
      return undefined;
  }
}
