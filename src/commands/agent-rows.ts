import type { Agent, AgentStream, Identifier } from '../proxy/admin/model/agent.ts';
import { ageText, roundTripText, sinceText } from '../proxy/admin/model/amounts.ts';
import type { Order } from '../proxy/admin/model/order.ts';
import type { TableFit } from './fit-table.ts';

export const AGENT_HEAD = [
  'AGENT',
  'STATE',
  'CONDITIONS',
  'SERVERS',
  'SERVES',
  'TUNNELS',
  'OLDEST',
  'PENDING',
];
export const AGENT_WIDE_HEAD = [...AGENT_HEAD, 'KIND', 'VERSION', 'RTT', 'GONE', 'RECONNECTS', 'STREAMS'];

/** What a narrow terminal does without; IDs are needed whole. */
export const AGENT_GIVES_WAY: Pick<TableFit, 'shorten' | 'drop'> = {
  shorten: [
    ['WHY', 24],
    ['SERVES', 10],
    ['CONDITIONS', 10],
    ['WHY', 10],
  ],
  drop: ['OLDEST', 'PENDING', 'SERVES', 'SERVERS'],
};

/** One agent in a table; the last column says why it drains. */
export function agentRow(agent: Agent, wide: boolean, nowMs: number): string[] {
  const row = [
    agent.id,
    agent.state,
    agent.conditions.join(',') || '-',
    serversText(agent),
    servesText(agent.identifiers, wide),
    String(agent.tunnels),
    sinceText(agent.oldestTunnelSince, nowMs),
    String(agent.pendingDials),
  ];
  if (wide) {
    row.push(
      agent.kind,
      agent.version || '-',
      roundTripText(agent.roundTripSeconds),
      agent.state === 'gone' ? sinceText(agent.lastSeen, nowMs) : '-',
      String(agent.reconnects),
      agent.streams.map((stream) => streamText(stream, nowMs)).join(', ') || '-',
    );
  }
  row.push(whyText(agent, nowMs));
  return row;
}

export function agentHead(wide: boolean): string[] {
  return [...(wide ? AGENT_WIDE_HEAD : AGENT_HEAD), 'WHY'];
}

/** What makes a row worth being printed again while agents are watched: all but what time changes by itself. */
export function agentRowKey(agent: Agent, wide: boolean): string {
  const { id, state, conditions, identifiers, tunnels, pendingDials, source, order, serverCount, serverIds } =
    agent;
  const key: unknown[] = [id, state, conditions, identifiers, tunnels, pendingDials, source, order];
  key.push(serverCount, serverIds);
  if (wide) {
    key.push(agent.kind, agent.version, agent.reconnects);
    key.push(agent.streams.map((stream) => [stream.serverId, stream.remoteAddress, stream.state]));
  }
  return JSON.stringify(key);
}

/** `2/3`: servers that it is connected to, of those that it knows of. */
export function serversText({ serverIds, serverCount }: Agent): string {
  return serverCount > 0 ? `${serverIds.length}/${serverCount}` : String(serverIds.length);
}

function servesText(identifiers: readonly Identifier[], wide: boolean): string {
  const [first, ...more] = identifiers.map(identifierText);
  if (first === undefined) return '-';
  if (wide) return [first, ...more].join(',');
  return more.length === 0 ? first : `${first} +${more.length}`;
}

export function identifierText({ kind, value }: Identifier): string {
  return kind === 'default-route' ? kind : `${kind}=${value}`;
}

function streamText(stream: AgentStream, nowMs: number): string {
  const { serverId, remoteAddress, connectedSince, state } = stream;
  return `${serverId} ${remoteAddress} ${sinceText(connectedSince, nowMs)}${state === 'ready' ? '' : ` ${state}`}`;
}

function whyText(agent: Agent, nowMs: number): string {
  const order = agent.order === undefined ? '' : orderText(agent.order, nowMs);
  if (agent.source !== 'leaving') return order === '' ? '-' : order;
  const since = agent.leavingSince === undefined ? '' : ` since ${sinceText(agent.leavingSince, nowMs)}`;
  return `leaving${since}${order === '' ? '' : `; ${order}`}`;
}

/** `order 7f3 by alice@host 12m ago: kernel patch; deadline in 3m, then close`. */
export function orderText(order: Order, nowMs: number): string {
  const reason = order.reason === '' ? '' : `: ${order.reason}`;
  const until = order.until === 'restart' ? '; until it restarts' : '';
  return (
    `order ${order.id} by ${actorText(order)} ${sinceText(order.since, nowMs)} ago${reason}` +
    `${order.deadline === undefined ? '' : `; ${deadlineText(order, nowMs)}`}${until}`
  );
}

export function actorText({ actor, actorClaimed }: Pick<Order, 'actor' | 'actorClaimed'>): string {
  return `${actor === '' ? 'somebody' : actor}${actorClaimed ? ' (claimed)' : ''}`;
}

export function deadlineText({ deadline, atDeadline }: Order, nowMs: number): string {
  if (deadline === undefined) return 'no deadline';
  const leftMs = deadline.getTime() - nowMs;
  if (leftMs < 0) return `deadline passed ${ageText(-leftMs / 1_000)} ago (${atDeadline})`;
  // One of 1h is not `in 59m` at once.
  return `deadline in ${ageText(Math.ceil(leftMs / 1_000))}, then ${atDeadline}`;
}
