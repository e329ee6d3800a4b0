import { countText } from '../../proxy/admin/model/amounts.ts';
import type { SelectCandidate, Selection } from '../../proxy/admin/model/selection.ts';
import { badgeOf } from '../badge.ts';
import type { TopState, View } from '../state/top-state.ts';
import { safeText } from '../text/safe-text.ts';
import { wrapText } from '../text/wrap-text.ts';
import { fieldSpans } from './field-spans.ts';
import { scrolled } from './scrolled.ts';
import { EMPTY_LINE, type Line, line, type Span, span } from './span.ts';

const NAMED = 3;

/** A destination that is typed, and which agent would carry a dial to it now. */
export function selectionView(
  state: TopState,
  view: View & { kind: 'selection' },
  lines: number,
): readonly Line[] {
  const { target, data } = view;
  const field = fieldSpans(target, true, state, state.columns - 26);
  const head = line(span(' Try a destination:  ', 'strong'), ...field);
  const hint = 'host:port, or a host, as a client would dial it; nothing is dialled';
  if (target.text.trim() === '') return [head, EMPTY_LINE, line(span(`   ${hint}`, 'quiet'))];
  const failure = data.failure === undefined ? [] : [line(span(` ${data.failure}`, 'bad'))];
  if (data.value === undefined) {
    return [
      head,
      ...failure,
      EMPTY_LINE,
      ...(failure.length > 0 ? [] : [line(span('   asking the servers', 'quiet'))]),
    ];
  }
  const body = data.value.flatMap((selection) => selectionLines(selection, state, data.value?.length !== 1));
  return [head, ...failure, ...scrolled(body, view.top, lines - 1 - failure.length)];
}

function selectionLines(selection: Selection, state: TopState, withServer: boolean): Line[] {
  const looked = new Map<string, { strategy: string; found: number }[]>();
  for (const { pass, strategy, found } of selection.looks) {
    looked.set(pass, [...(looked.get(pass) ?? []), { strategy, found }]);
  }
  const passes = ['ready', 'draining', 'suspect'].map((pass, i) =>
    passLines(selection, pass, i + 1, looked.get(pass), state),
  );
  return [
    ...(withServer ? [EMPTY_LINE, line(span(` Server ${safeText(selection.server)}`, 'strong'))] : []),
    ...passes.flat(),
    ...wrapText(conclusion(selection), state.columns - 5).map((text, i) =>
      line(
        span(i === 0 ? ' => ' : '    ', 'strong'),
        span(text, selection.choice === 'none' ? 'bad' : 'strong'),
      ),
    ),
  ];
}

function passLines(
  selection: Selection,
  pass: string,
  number: number,
  looks: readonly { strategy: string; found: number }[] | undefined,
  state: TopState,
): Line[] {
  if (looks === undefined) return [line(span(` pass ${number}, ${pass}: not reached`, 'quiet'))];
  const rows = looks.map(({ strategy, found }) => {
    const {
      key = '',
      candidates = [],
      matches = 0,
    } = selection.strategies.find(({ name }) => name === strategy) ?? {};
    const here = found > 0 && strategy === selection.strategy;
    const who = here ? chosenText(selection) : othersText(candidates, matches, pass, state);
    const spans: Span[] = [
      span(`   ${strategy.padEnd(13)}${key === '' ? '' : `${safeText(key)} -> `}`),
      ...who,
    ];
    if (here) spans.push(span('   <= chosen here', 'good'));
    return line(...spans);
  });
  return [line(span(` pass ${number}, ${pass}`)), ...rows];
}

function chosenText({ choice, choices, agent }: Selection): Span[] {
  if (choice === 'only') return [span(safeText(agent))];
  const how = choice === 'least' ? 'the less loaded of two at random' : 'one at random';
  return [span(`${choices} agents -> ${how}`)];
}

/** Those that the strategy names, and why this pass does not take them. */
function othersText(
  candidates: readonly SelectCandidate[],
  matches: number,
  pass: string,
  { glyphs }: TopState,
): Span[] {
  if (matches === 0) return [span('no agent', 'quiet')];
  const spans = candidates.slice(0, NAMED).flatMap((one, i): Span[] => {
    const badge =
      one.state === 'ready' || one.state === 'draining' || one.state === 'gone'
        ? badgeOf({ state: one.state, conditions: [] }, glyphs)
        : { text: `${glyphs.bad} ${one.state}`, tone: 'bad' as const };
    const why = one.excluded === undefined || one.excluded === '' ? `not ${pass}` : safeText(one.excluded);
    return [
      span(`${i > 0 ? ', ' : ''}${safeText(one.id)} `),
      span(badge.text, badge.tone),
      span(`: ${why}`, 'quiet'),
    ];
  });
  if (matches > NAMED) spans.push(span(`, ${matches - NAMED} more`, 'quiet'));
  return spans;
}

function conclusion(selection: Selection): string {
  const { choice, choices, agent, reason, fallback } = selection;
  const why = reason === '' ? '' : `; ${safeText(reason)}`;
  const last = fallback ? ', as no ready agent was found' : '';
  if (choice === 'none') return `no agent could carry it${why}`;
  if (choice === 'only') return `${safeText(agent)}${last}${why}`;
  return `any of ${countText(choices, 'agent')} (example ${safeText(agent)})${last}${why}`;
}
