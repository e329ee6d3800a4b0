/** What a piece of text means; `paint` chooses how it looks. No meaning is told by colour alone. */
export type Tone = 'plain' | 'quiet' | 'strong' | 'good' | 'busy' | 'done' | 'bad' | 'key';

export interface Span {
  readonly text: string;
  readonly tone: Tone;
}

/** One line of the screen; its spans are as wide as the screen at most. */
export interface Line {
  readonly spans: readonly Span[];
  /** The row under the cursor. */
  readonly selected?: true;
  /** The field of a dialog that is being typed into: it stays in sight. */
  readonly focused?: true;
}

/** Controls of the terminal and of the direction of text: the last who could stop those of a peer. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

export function span(text: string, tone: Tone = 'plain'): Span {
  return { text: text.replace(CONTROL, '?'), tone };
}

export function line(...spans: Span[]): Line {
  return { spans };
}

export const EMPTY_LINE: Line = { spans: [] };

/** A line without its tones. */
export function plainText({ spans }: Line): string {
  return spans.map(({ text }) => text).join('');
}
