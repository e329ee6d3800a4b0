import { graphemes, widthOf } from '../text/safe-text.ts';

// Characters below U+3000 that every terminal gives one cell: Latin, box drawing, blocks, the badges.
const SURE = /^[\u0020-\u02ff\u2010-\u2027\u2500-\u25ff\u2190-\u21ff\u2715]$/u;
const SEQUENCE = /\u001b\[[\d;]*m/g;
const ALL_SURE = /^[\u0020-\u02ff\u2010-\u2027\u2500-\u25ff\u2190-\u21ff\u2715]*$/u;

/**
 * Says the column again after characters that terminals do not agree about (emoji, scripts with marks, right-to-left),
 * so that what follows stands where it belongs, whatever cells the terminal gave them.
 */
export function pinColumns(line: string): string {
  if (ALL_SURE.test(line.replace(SEQUENCE, ''))) return line;
  let out = '';
  let column = 1;
  let unsure = false;
  let at = 0;
  const take = (text: string): void => {
    for (const one of graphemes(text)) {
      const sure = SURE.test(one);
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
