import type { TopState } from '../state/top-state.ts';
import { cutEnd, widthOf } from '../text/safe-text.ts';
import { clip, lineWidth } from './clip.ts';
import { type Line, type Span, span } from './span.ts';

export interface DialogLines {
  readonly title: string;
  readonly lines: readonly Line[];
  /** So many of them, at the end, are what was complained about and the buttons: they stay when room is short. */
  readonly foot: number;
}

/** Puts a box over the screen; what is around it stays, and stays still. */
export function overlay(
  under: readonly Line[],
  dialog: DialogLines,
  { columns, rows, glyphs }: Pick<TopState, 'columns' | 'rows' | 'glyphs'>,
): readonly Line[] {
  const { title, lines } = dialog;
  const wanted = Math.max(widthOf(title), ...lines.map(lineWidth)) + 4;
  const width = Math.min(columns, Math.max(wanted, Math.min(columns, 56)));
  const shown = inRoom(dialog, Math.max(1, rows - 3));
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

/** What of a dialog fits: its beginning, or the part around the field that is typed into, and always its foot. */
function inRoom({ lines, foot }: DialogLines, room: number): readonly Line[] {
  if (lines.length <= room) return lines;
  const end = lines.slice(-foot).filter((line) => lineWidth(line) > 0);
  // Of a long complaint the beginning, so that the field has its line, too.
  const complaint = end.slice(0, Math.min(end.length - 1, room - 2));
  const body = lines.slice(0, lines.length - foot);
  const left = room - complaint.length - 1;
  const focus = body.findIndex(({ focused }) => focused);
  const from = focus < left ? 0 : focus - left + 1;
  return [...body.slice(from, from + left), ...complaint, ...end.slice(-1)];
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
