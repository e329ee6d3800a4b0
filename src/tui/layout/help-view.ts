import { BINDINGS, type Binding } from '../keys.ts';
import { mayAct, type TopState, type View } from '../state/top-state.ts';
import { wrapText } from '../text/wrap-text.ts';
import { scrolled } from './scrolled.ts';
import { EMPTY_LINE, type Line, line, span } from './span.ts';

const VIEW_NAMES: Readonly<Record<View['kind'], string>> = {
  agents: 'agents',
  details: 'details',
  tunnels: 'tunnels',
  events: 'events',
  selection: 'try',
  help: 'help',
};

const DIALOGS =
  'Tab or arrows, then Enter on the button. No letter confirms; esc cancels. Pasted text reaches text fields only.';

/** Every key that exists here, and what the badges mean. */
export function helpView(state: TopState, view: View & { kind: 'help' }, lines: number): readonly Line[] {
  const acts = mayAct(state);
  const keys = BINDINGS.filter(
    (binding) => (acts || binding.acts === undefined) && (state.inDemo || binding.demo === undefined),
  ).map(bindingLine);
  const why = state.readOnly ? 'started with --read-only' : 'you may look, not change';
  const { ready, draining, drained, bad, gone } = state.glyphs;
  const badges: readonly (readonly [string, string])[] = [
    [`${ready} ready`, 'takes new dials'],
    [`${draining} DRAINING`, 'gets new dials only where no other agent can serve; its tunnels run on'],
    [`${drained} drained`, 'draining, with nothing left on any of its servers'],
    [`${bad} late`, 'does not answer probes; `no answer`: does not answer dials'],
    [`${gone} gone`, 'not connected; under an order, or seen in the last hour'],
    ['overdue', 'past the deadline of its order'],
    ['slow', 'a tunnel is paused, because the way to its node is full'],
    ['duplicate', 'two processes use this ID'],
    ['partial', 'not all servers agree, or not all answered'],
  ];
  const all: Line[] = [
    line(
      span(' Keys', 'strong'),
      span(acts ? '' : `; those that change something do not exist: ${why}`, 'quiet'),
    ),
    ...keys,
    EMPTY_LINE,
    line(span(' Dialogs', 'strong')),
    ...wrapText(DIALOGS, state.columns - 4).map((text) => line(span(`   ${text}`))),
    EMPTY_LINE,
    line(span(' States', 'strong')),
    ...badges.map(([badge, meaning]) => line(span(`   ${badge.padEnd(12)}`, 'strong'), span(meaning))),
  ];
  return scrolled(all, view.top, lines);
}

function bindingLine({ shown, help, views }: Binding): Line {
  const where = views.length >= 4 ? '' : ` (${views.map((view) => VIEW_NAMES[view]).join(', ')})`;
  return line(span(`   ${shown.padEnd(8)}`, 'key'), span(help), span(where, 'quiet'));
}
