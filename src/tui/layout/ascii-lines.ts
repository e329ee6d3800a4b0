import { graphemes, widthOf } from '../text/safe-text.ts';
import type { Line } from './span.ts';

const ASCII = /^[ -~]*$/;
/** Ours; what peers say is not guessed at. */
const LIKE: Readonly<Record<string, string>> = { '↑': '^', '↓': 'v', '…': '~' };

/**
 * Lines for a terminal whose locale is not UTF-8, in the same cells. It would show the bytes of anything else as other
 * characters, and some of them (0x80 to 0x9f) move its cursor or change its modes.
 */
export function asciiLines(lines: readonly Line[]): readonly Line[] {
  return lines.map((line) => {
    if (line.spans.every(({ text }) => ASCII.test(text))) return line;
    return { ...line, spans: line.spans.map((span) => ({ ...span, text: asciiText(span.text) })) };
  });
}

function asciiText(text: string): string {
  if (ASCII.test(text)) return text;
  return graphemes(text)
    .map((one) => (ASCII.test(one) ? one : (LIKE[one] ?? '?'.repeat(widthOf(one)))))
    .join('');
}
