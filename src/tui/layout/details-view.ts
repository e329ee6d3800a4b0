import type { Agent } from '../../proxy/admin/model/agent.ts';
import { countText, roundTripText, sinceText } from '../../proxy/admin/model/amounts.ts';
import type { AdminEvent } from '../../proxy/admin/model/event.ts';
import type { Tunnel } from '../../proxy/admin/model/tunnel.ts';
import { badgeOf } from '../badge.ts';
import type { TopState, View } from '../state/top-state.ts';
import { clockText } from '../text/amounts.ts';
import { fitEnd, safeText } from '../text/safe-text.ts';
import { eventLine } from './events-view.ts';
import { scrolled } from './scrolled.ts';
import { EMPTY_LINE, type Line, line, span } from './span.ts';
import { agentStory } from './story.ts';
import { endText, tunnelCells, tunnelColumns, tunnelHead } from './tunnel-line.ts';

/** One agent in full. */
export function detailsView(
  state: TopState,
  view: View & { kind: 'details' },
  lines: number,
): readonly Line[] {
  const { data, id } = view;
  // The list is fresher than the details; they are the only ones to know an agent that was filtered away.
  const agent = state.agents.get(id) ?? data.value?.agent;
  if (agent === undefined) {
    const why = data.failure ?? 'is not known any more';
    return [line(span(` ${safeText(id)}`, 'strong')), EMPTY_LINE, line(span(`   ${why}`, 'quiet'))];
  }
  const badge = badgeOf(agent, state.glyphs);
  const head: Line[] = [
    line(
      span(` ${safeText(id)}  `, 'strong'),
      span(badge.text, badge.tone),
      span(`  ${kindText(agent)}`, 'quiet'),
    ),
    line(span(` ${agentStory(agent, state.nowMs)}`)),
    ...(data.failure === undefined ? [] : [line(span(` ${data.failure}`, 'bad'))]),
  ];
  const body = [
    ...identifiers(agent),
    ...orderLines(agent, state.nowMs),
    ...streamLines(agent, state.nowMs),
    ...tunnelLines(state, data.value?.tunnels, agent.tunnels),
    ...endLines(state, data.value?.ended),
    ...eventLines(state, data.value?.events),
  ];
  return [...head, ...scrolled(body, view.top, lines - head.length)];
}

function kindText({ kind, version, instance }: Agent): string {
  const parts = [
    kind === 'go' ? 'Go agent' : 'konnectivity-ts',
    version ?? '',
    instance === undefined ? '' : `instance ${instance}`,
  ];
  return safeText(parts.filter((part) => part !== '').join(' '));
}

function title(text: string): Line {
  return line(span(` ${text}`, 'strong'));
}

function identifiers(agent: Agent): Line[] {
  if (agent.identifiers.length === 0)
    return [EMPTY_LINE, title('Serves'), line(span('   any destination (strategy default)'))];
  const all = agent.identifiers.map(({ kind, value }) =>
    kind === 'default-route' ? kind : `${kind}=${value}`,
  );
  return [EMPTY_LINE, title('Serves'), line(span(`   ${safeText(all.join(', '))}`))];
}

function orderLines({ order, kind }: Agent, nowMs: number): Line[] {
  if (order === undefined) return [];
  const claimed = order.actorClaimed ? ' (as it says itself)' : '';
  const deadline =
    order.deadline === undefined
      ? 'no deadline'
      : `deadline ${clockText(order.deadline, nowMs)}, then ${order.atDeadline === 'close' ? 'close its tunnels' : 'keep its tunnels'}${order.overdue ? ', OVERDUE' : ''}`;
  const known =
    kind === 'go'
      ? 'kept by the servers alone'
      : order.acknowledged
        ? 'the agent took it'
        : 'the agent has not taken it yet';
  return [
    EMPTY_LINE,
    title(`Order ${safeText(order.id)}`),
    line(
      span(
        `   by ${safeText(order.actor)}${claimed}, ${sinceText(order.since, nowMs)} ago${order.reason === '' ? '' : `: ${safeText(order.reason)}`}`,
      ),
    ),
    line(
      span(
        `   ${deadline}; until ${order.until === 'restart' ? 'its restart' : 'undrained'}; change ${order.version}, ${order.relayed ? 'relayed by the agent' : 'stored here'}; ${known}`,
      ),
    ),
  ];
}

function streamLines(agent: Agent, nowMs: number): Line[] {
  const rows = agent.streams.map((stream) => {
    const trip = roundTripText(stream.roundTripSeconds);
    const suspect = stream.state === 'suspect';
    return line(
      span(`   ${fitEnd(safeText(stream.serverId), 20)} `),
      span(fitEnd(stream.state, 9), suspect ? 'bad' : 'plain'),
      span(
        ` ${fitEnd(safeText(stream.remoteAddress), 22)} for ${fitEnd(sinceText(stream.connectedSince, nowMs), 8)}`,
      ),
      span(` ${fitEnd(trip, 7, 'right')}  ${countText(stream.tunnels, 'tunnel')}`, 'quiet'),
    );
  });
  const of = agent.serverCount > 0 ? ` of ${agent.serverCount} servers` : '';
  return [EMPTY_LINE, title(`Streams: ${agent.serverIds.length}${of}`), ...rows];
}

function tunnelLines(state: TopState, tunnels: readonly Tunnel[] | undefined, total: number): Line[] {
  if (tunnels === undefined)
    return [EMPTY_LINE, title('Tunnels'), line(span('   asking the servers', 'quiet'))];
  const columns = tunnelColumns(state.columns - 3, false);
  const more = total > tunnels.length ? `, the oldest ${tunnels.length}` : '';
  if (tunnels.length === 0) return [EMPTY_LINE, title('Tunnels: none')];
  return [
    EMPTY_LINE,
    title(`Tunnels: ${Math.max(total, tunnels.length)}${more}`),
    line(span('   '), ...tunnelHead(columns, 'age')),
    ...tunnels.map((tunnel) => line(span('   '), ...tunnelCells(tunnel, columns, state.glyphs.ellipsis))),
  ];
}

function endLines(state: TopState, ended: readonly Tunnel[] | undefined): Line[] {
  if (ended === undefined || ended.length === 0) return [];
  return [
    EMPTY_LINE,
    title('Last ends'),
    ...ended.map((tunnel) => line(span(`   ${endText(tunnel, state.nowMs)}`))),
  ];
}

function eventLines(state: TopState, events: readonly AdminEvent[] | undefined): Line[] {
  if (events === undefined || events.length === 0) return [];
  return [EMPTY_LINE, title('Events'), ...events.map((event) => eventLine(event, state, false))];
}
