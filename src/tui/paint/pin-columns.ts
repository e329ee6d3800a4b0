import { graphemes, isNarrow, widthOf } from '../text/safe-text.ts';

const SEQUENCE = /\u001b\[[\d;]*m/g;

/**
 * Says the column again after characters that terminals do not agree about (emoji, scripts with marks, right-to-left),
 * so that what follows stands where it belongs, whatever cells the terminal gave them.
 */
export function pinColumns(line: string): string {
  if (isNarrow(line.replace(SEQUENCE, ''))) return line;
  let out = '';
  let column = 1;
  let unsure = false;
  let at = 0;
  const take = (text: string): void => {
    for (const one of graphemes(text)) {
      const sure = isNarrow(one);
      if (sure && unsure) out += `\u001b[${column}G`;
      unsure = !sure;
      out += one;
      column += widthOf(one);
    }
  };
  for (const match of line.matchAll(SEQUENCE)) {
    take(line.slice(at, match.index));
    out += match[0];
    at = match.index + match[0].length;
  }
  take(line.slice(at));
  return unsure ? `${out}\u001b[${column}G` : out;
}
