import type { AdminEvent } from '../../proxy/admin/model/event.ts';
import { type TopState, type View, viewOf } from '../state/top-state.ts';
import { clockText, secondsClockText } from '../text/amounts.ts';
import { fitEnd, safeText } from '../text/safe-text.ts';
import { EMPTY_LINE, type Line, line, span } from './span.ts';

/** What happened, the newest at the bottom. */
export function eventsView(state: TopState, view: View & { kind: 'events' }, lines: number): readonly Line[] {
  const { agent, back, events, failure } = view;
  const whose = agent === undefined ? 'all agents' : safeText(agent);
  const where = back === 0 ? 'newest at the bottom' : `${back} newer below, End follows`;
  const title = line(span(` Events of ${whose}`, 'strong'), span(`: ${where}`, 'quiet'));
  const note = failure === undefined ? [] : [line(span(` ${failure}`, 'bad'))];
  const rows = Math.max(1, lines - 1 - note.length);
  const end = events.length - Math.min(back, Math.max(0, events.length - rows));
  const body = events
    .slice(Math.max(0, end - rows), end)
    .map((event) => eventLine(event, state, agent === undefined));
  if (body.length === 0) body.push(line(span('   nothing yet', 'quiet')));
  while (body.length < rows) body.unshift(EMPTY_LINE);
  return [title, ...body, ...note];
}

/** One event in a line. */
export function eventLine(event: AdminEvent, state: TopState, withAgent: boolean): Line {
  const today = clockText(event.time, state.nowMs).length === 5;
  const when = today ? secondsClockText(event.time) : clockText(event.time, state.nowMs);
  const who = event.actor === undefined || event.actor === '' ? '' : ` (by ${safeText(event.actor)})`;
  const named = event.agent === undefined || event.message.includes(event.agent);
  const agent = withAgent && !named ? `${safeText(event.agent ?? '')}: ` : '';
  const several =
    state.servers.length > 1 && viewOf(state).kind === 'events' ? ` [${safeText(event.serverId)}]` : '';
  return line(
    ...(event.missed > 0 ? [span(`   ${event.missed} missed  `, 'bad')] : [span('   ')]),
    span(`${when}  `, 'quiet'),
    span(`${fitEnd(safeText(event.type), 20)} `, 'strong'),
    span(`${agent}${safeText(event.message)}${who}`),
    span(several, 'quiet'),
  );
}
