import stringWidth from 'string-width';

// Controls, line and paragraph separators, directional marks and overrides, byte order mark, tags, lone surrogates:
// what moves the cursor, turns the text around it, or hides. Zero-width joiners stay, because emoji are made with them.
const UNSAFE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]|\p{Cs}/gu;
const RTL = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]|[\u{10800}-\u{10fff}]|[\u{1e800}-\u{1efff}]/u;
const PLAIN = /^[\u0020-\u007e]*$/;
// What every terminal gives one cell: ASCII, dashes and the ellipsis, arrows, boxes, blocks, the badges.
const NARROW =
  /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u21ff\u2500-\u25fc\u25ff\u2715]*$/;
// A left-to-right mark: unlike isolates, every terminal knows that it takes no cell.
const LRM = '\u200e';
// Made for the first text that needs one: it takes 7 ms.
let segmenter: Intl.Segmenter | undefined;

/**
 * Text of a peer as it may be shown: what could move the cursor or reorder the line is shown as `\u{..}`. Right-to-left
 * text stays readable, between marks, so that it does not turn the columns around it.
 */
export function safeText(text: string): string {
  if (PLAIN.test(text)) return text;
  const visible = text.replace(UNSAFE, (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`);
  return RTL.test(visible) ? `${LRM}${visible}${LRM}` : visible;
}

/** Cells that a safe text takes. */
export function widthOf(text: string): number {
  return NARROW.test(text) ? text.length : stringWidth(text);
}

/** Whether every terminal gives each of its characters one cell. */
export function isNarrow(text: string): boolean {
  return NARROW.test(text);
}

/** The text in exactly so many cells: padded, or cut at its end with an ellipsis. */
export function fitEnd(
  text: string,
  width: number,
  align: 'left' | 'right' = 'left',
  ellipsis = '…',
): string {
  const cut = cutEnd(text, width, ellipsis);
  const pad = ' '.repeat(Math.max(0, width - widthOf(cut)));
  return align === 'left' ? cut + pad : pad + cut;
}

/** The text in exactly so many cells; a longer one loses its middle, because IDs differ at their ends. */
export function fitMiddle(text: string, width: number, ellipsis = '…'): string {
  if (widthOf(text) <= width) return fitEnd(text, width);
  if (width <= 3) return fitEnd(takeCells(graphemes(text), width), width);
  const all = graphemes(text.replaceAll(LRM, ''));
  const head = takeCells(all, Math.ceil((width - 1) / 2));
  const tail = takeCells(all.reverse(), width - 1 - widthOf(head), true);
  const joined = `${head}${ellipsis}${tail}`;
  return fitEnd(RTL.test(joined) ? `${LRM}${joined}${LRM}` : joined, width);
}

/** The text in at most so many cells, with the ellipsis where something is missing. */
export function cutEnd(text: string, width: number, ellipsis = '…'): string {
  if (widthOf(text) <= width) return text;
  if (width <= 0) return '';
  return `${takeCells(graphemes(text), width - ellipsis.length)}${ellipsis}${text.startsWith(LRM) ? LRM : ''}`;
}

/** The parts of a text that a reader sees as one character. */
export function graphemes(text: string): string[] {
  if (NARROW.test(text)) return [...text];
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

function takeCells(parts: readonly string[], width: number, reversed = false): string {
  const taken: string[] = [];
  let cells = 0;
  for (const part of parts) {
    cells += widthOf(part);
    if (cells > width) break;
    taken.push(part);
  }
  return (reversed ? taken.reverse() : taken).join('');
}
