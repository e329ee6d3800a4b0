import type { Agent, Condition } from '../../proxy/admin/model/agent.ts';
import { countText, roundTripText, sinceText } from '../../proxy/admin/model/amounts.ts';
import type { TopState } from '../state/top-state.ts';
import { clockText } from '../text/amounts.ts';
import { cutEnd, safeText } from '../text/safe-text.ts';
import { type Line, line, span } from './span.ts';

/** What is going on with the agent under the cursor, in words, at every width. */
export function story(state: TopState): Line {
  const { table, agents, columns, glyphs } = state;
  const id = table.selected;
  if (id === undefined) return line();
  const agent = agents.get(id);
  const words = agent === undefined ? 'is not known any more' : agentStory(agent, state.nowMs);
  const text = agent === undefined ? `${safeText(id)} ${words}` : `${safeText(id)}: ${words}`;
  return line(span(' '), span(cutEnd(text, columns - 2, glyphs.ellipsis), 'strong'));
}

/** The parts of an agent's story, the most urgent first. */
export function agentStory(agent: Agent, nowMs: number): string {
  const parts = [...troubles(agent, nowMs), ...draining(agent, nowMs)];
  if (agent.state === 'gone') {
    parts.push(
      agent.lastSeen === undefined ? 'gone' : `gone, last seen ${sinceText(agent.lastSeen, nowMs)} ago`,
    );
  } else parts.push(load(agent));
  if (agent.safeToStop) parts.push('safe to stop');
  else if (agent.lastFor.length > 0) {
    const more = agent.lastFor.length > 2 ? ` and ${agent.lastFor.length - 2} more` : '';
    const only = agent.state === 'drained' ? 'idle, still the last for' : 'the last for';
    parts.push(`${only} ${agent.lastFor.slice(0, 2).map(safeText).join(', ')}${more}`);
  }
  if (agent.reconnects > 0) parts.push(`${countText(agent.reconnects, 'reconnect')} in 10m`);
  return parts.join('; ');
}

function troubles(agent: Agent, nowMs: number): string[] {
  return agent.conditions.map((condition) => trouble(condition, agent, nowMs));
}

function trouble(condition: Condition, { lastSeen, pausedTunnels }: Agent, nowMs: number): string {
  switch (condition) {
    case 'overdue':
      return 'past its deadline';
    case 'late':
      return `does not answer probes${lastSeen === undefined ? '' : `, last seen ${sinceText(lastSeen, nowMs)} ago`}`;
    case 'unresponsive':
      return 'does not answer dials';
    case 'slow':
      return `${countText(pausedTunnels, 'tunnel')} paused, the way to the node is full`;
    case 'duplicate':
      return 'two processes use this ID';
    case 'partial':
      return 'not all servers agree or answered';
  }
}

function draining({ order, source, leavingSince }: Agent, nowMs: number): string[] {
  const parts: string[] = [];
  if (source === 'leaving') {
    parts.push(leavingSince === undefined ? 'leaving' : `leaving for ${sinceText(leavingSince, nowMs)}`);
  }
  if (order === undefined) return parts;
  const who = order.actor === '' ? '' : ` by ${safeText(order.actor)}`;
  const why = order.reason === '' ? '' : `, ${safeText(order.reason)}`;
  parts.push(`order ${safeText(order.id)}${who} ${sinceText(order.since, nowMs)} ago${why}`);
  if (order.deadline !== undefined) {
    const then = order.atDeadline === 'close' ? 'close' : 'keep';
    parts.push(`deadline ${clockText(order.deadline, nowMs)} then ${then}`);
  }
  if (order.until === 'restart') parts.push('until its restart');
  return parts;
}

function load(agent: Agent): string {
  const { tunnels, pendingDials, serverIds, serverCount, state } = agent;
  const servers = serverCount > 0 ? ` on ${serverIds.length} of ${countText(serverCount, 'server')}` : '';
  const dials = pendingDials > 0 ? `, ${countText(pendingDials, 'dial')} under way` : '';
  const none = state === 'drained' ? 'nothing left' : 'no tunnels';
  const trip =
    agent.roundTripSeconds === undefined ? '' : `, round trip ${roundTripText(agent.roundTripSeconds)}`;
  return `${tunnels === 0 ? none : countText(tunnels, 'tunnel')}${servers}${dials}${trip}`;
}
