import { cutEnd, widthOf } from './safe-text.ts';

/** A safe text in lines of at most so many cells, broken between words; the ones after the first are indented. */
export function wrapText(text: string, width: number, indent = ''): string[] {
  const lines: string[] = [];
  let now = '';
  for (const word of text.split(' ')) {
    const joined = now === '' ? word : `${now} ${word}`;
    if (widthOf(joined) <= width) {
      now = joined;
      continue;
    }
    if (now.trim() !== '') lines.push(now);
    now = cutEnd(`${lines.length > 0 || now.trim() !== '' ? indent : ''}${word}`, width);
  }
  if (now !== '') lines.push(now);
  return lines;
}
