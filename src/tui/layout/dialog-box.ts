import type { TopState } from '../state/top-state.ts';
import { cutEnd } from '../text/safe-text.ts';
import { clip, lineWidth } from './clip.ts';
import { type Line, type Span, span } from './span.ts';

export interface DialogLines {
  readonly title: string;
  readonly lines: readonly Line[];
}

/** Puts a box over the screen; what is around it stays, and stays still. */
export function overlay(
  under: readonly Line[],
  { title, lines }: DialogLines,
  { columns, rows, glyphs }: Pick<TopState, 'columns' | 'rows' | 'glyphs'>,
): readonly Line[] {
  const wanted = Math.max(title.length, ...lines.map(lineWidth)) + 4;
  const width = Math.min(columns, Math.max(wanted, Math.min(columns, 56)));
  const room = Math.max(1, rows - 3);
  // The buttons are last: when room is short, what is above them gives way.
  const shown = lines.length > room ? [...lines.slice(0, room - 3), ...lines.slice(-3)] : lines;
  const left = Math.max(0, (columns - width) >> 1);
  const top = Math.max(0, Math.min(rows - shown.length - 3, (rows - shown.length - 2) >> 1));
  const box = boxLines(title, shown, width, glyphs);
  return under.map((line, i) => {
    const inside = box[i - top];
    if (inside === undefined) return quiet(line);
    const before = clip(line, left);
    const pad = ' '.repeat(Math.max(0, left - lineWidth(before)));
    return { spans: [...quiet(before).spans, span(pad), ...inside.spans] };
  });
}

function boxLines(
  title: string,
  lines: readonly Line[],
  width: number,
  { box, ellipsis }: TopState['glyphs'],
): Line[] {
  const [leftTop = '+', flat = '-', rightTop = '+', side = '|', leftBottom = '+', rightBottom = '+'] = box;
  const inner = width - 4;
  const head = cutEnd(title, inner, ellipsis);
  const rule = flat.repeat(Math.max(0, inner - lineWidth({ spans: [span(head)] })));
  return [
    { spans: [span(`${leftTop} `), span(head, 'strong'), span(` ${rule}${rightTop}`)] },
    ...lines.map((line) => {
      const cut = clip(line, inner);
      const pad = ' '.repeat(inner - lineWidth(cut));
      const spans: Span[] = [span(`${side} `), ...cut.spans, span(`${pad} ${side}`)];
      return { spans };
    }),
    { spans: [span(`${leftBottom}${flat.repeat(width - 2)}${rightBottom}`)] },
  ];
}

/** What is under a dialog steps back. */
function quiet(line: Line): Line {
  return { spans: line.spans.map(({ text }) => span(text, 'quiet')) };
}
