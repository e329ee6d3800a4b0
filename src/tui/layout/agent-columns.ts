import type { Agent } from '../../proxy/admin/model/agent.ts';
import { bytesText, roundTripText, sinceText } from '../../proxy/admin/model/amounts.ts';
import { badgeOf } from '../badge.ts';
import type { RateHistory, TopState } from '../state/top-state.ts';
import { rateText, shortCount } from '../text/amounts.ts';
import { fitEnd, fitMiddle, safeText } from '../text/safe-text.ts';
import { type Span, span } from './span.ts';
import { sparkline } from './sparkline.ts';

type Name =
  | 'state'
  | 'left'
  | 'agent'
  | 'servers'
  | 'serves'
  | 'tunnels'
  | 'pending'
  | 'dials'
  | 'to-node'
  | 'from-node'
  | 'rtt';

export interface Column {
  readonly name: Name;
  readonly title: string;
  readonly width: number;
  readonly align: 'left' | 'right';
}

/** In the order of the screen. `drop`: the order in which they go when room is short; 0 stays. */
const COLUMNS: readonly (Column & { readonly drop: number })[] = [
  { name: 'state', title: 'STATE', width: 18, align: 'left', drop: 0 },
  { name: 'left', title: 'LEFT (oldest)', width: 13, align: 'left', drop: 0 },
  { name: 'agent', title: 'AGENT', width: 14, align: 'left', drop: 0 },
  { name: 'servers', title: 'SERVERS', width: 7, align: 'left', drop: 7 },
  { name: 'serves', title: 'SERVES', width: 12, align: 'left', drop: 4 },
  { name: 'tunnels', title: 'TUNNELS', width: 7, align: 'right', drop: 0 },
  { name: 'pending', title: 'PEND', width: 4, align: 'right', drop: 5 },
  { name: 'dials', title: 'DIALS/s', width: 7, align: 'right', drop: 6 },
  { name: 'to-node', title: 'TO-NODE/s', width: 9, align: 'right', drop: 3 },
  { name: 'from-node', title: 'FROM-NODE/s', width: 11, align: 'right', drop: 2 },
  { name: 'rtt', title: 'RTT', width: 5, align: 'right', drop: 1 },
];

/** A blank, the cursor, the mark. */
const MARGIN = 3;
/** Below it, badges are short. */
const NARROW = 70;
const MOST_AGENT = 44;
const MOST_SERVES = 30;

/**
 * The columns that fit, by the width alone. The longest ID (in cells) decides how wide they are, so that what rows hold
 * does not move them: long ones get the room that is left first, and a part of LEFT, but no number gives way to them.
 */
export function columnsFor(columns: number, idWidth: number): readonly Column[] {
  const narrow = columns < NARROW;
  let kept: readonly (typeof COLUMNS)[number][] = COLUMNS.map((column) =>
    narrow ? { ...column, ...NARROWER[column.name] } : column,
  );
  const total = (): number => kept.reduce((sum, { width }) => sum + width + 1, -1) + MARGIN;
  for (let drop = 1; drop <= COLUMNS.length && total() > columns; drop++) {
    kept = kept.filter((column) => column.drop !== drop);
  }
  const agent = kept.find(({ name }) => name === 'agent')?.width ?? 0;
  if (!narrow && idWidth > agent + columns - total()) {
    kept = kept.map((column) => (column.name === 'left' ? { ...column, ...NARROWER.left } : column));
  }
  let spare = columns - total();
  const widen = (name: Name, by: number): void => {
    kept = kept.map((column) => (column.name === name ? { ...column, width: column.width + by } : column));
    spare -= by;
  };
  const forIds = Math.min(spare, Math.max(0, Math.min(idWidth, MOST_AGENT) - agent));
  widen('agent', forIds);
  const serves = kept.find(({ name }) => name === 'serves');
  const more = Math.min(MOST_AGENT - agent - forIds, serves === undefined ? spare : spare >> 1);
  widen('agent', more);
  if (serves !== undefined) widen('serves', Math.min(MOST_SERVES - serves.width, spare));
  return kept;
}

const NARROWER: Readonly<Partial<Record<Name, Partial<Column>>>> = {
  state: { width: 12 },
  left: { title: 'LEFT', width: 9 },
  agent: { width: 7 },
  tunnels: { title: 'TUN', width: 5 },
};

/** The row of an agent; of one that is no longer known, its ID alone. */
export function agentCells(
  state: TopState,
  id: string,
  agent: Agent | undefined,
  columns: readonly Column[],
): readonly Span[] {
  return columns.map((column) => {
    const { name, width, align } = column;
    if (name === 'agent')
      return span(idText(id, agent, width, state), agent === undefined ? 'quiet' : 'plain');
    if (agent === undefined)
      return span(fitEnd(name === 'state' ? `${state.glyphs.gone} gone` : '', width), 'quiet');
    if (name === 'state') {
      const badge = badgeOf(agent, state.glyphs, width < 18);
      return span(fitEnd(badge.text, width, 'left', state.glyphs.ellipsis), badge.tone);
    }
    const { text, quiet } = cellText(name, agent, state, state.rates.get(id));
    return span(fitEnd(text, width, align, state.glyphs.ellipsis), quiet ? 'quiet' : 'plain');
  });
}

/** `node-e-77aa go`: a Go agent is told apart where it stands. */
function idText(id: string, agent: Agent | undefined, width: number, { glyphs }: TopState): string {
  const kind = agent?.kind === 'go' ? ' go' : '';
  const room = width - kind.length;
  const shown = fitMiddle(safeText(id), room, glyphs.ellipsis);
  return kind === '' ? shown : fitEnd(`${shown.trimEnd()}${kind}`, width);
}

function cellText(
  name: Name,
  agent: Agent,
  { nowMs, glyphs }: TopState,
  rates: RateHistory | undefined,
): { text: string; quiet?: boolean } {
  const none = { text: '-', quiet: true };
  switch (name) {
    case 'left': {
      const left = agent.tunnels + agent.pendingDials;
      const asks = agent.state !== 'ready' || agent.conditions.length > 0;
      if (!asks || left === 0) return { text: '' };
      const oldest = agent.oldestTunnelSince;
      return { text: oldest === undefined ? String(left) : `${left} (${sinceText(oldest, nowMs)})` };
    }
    case 'servers':
      if (agent.state === 'gone') return none;
      return { text: `${agent.serverIds.length}${agent.serverCount > 0 ? `/${agent.serverCount}` : ''}` };
    case 'serves':
      return { text: servesText(agent) };
    case 'tunnels':
      return { text: shortCount(agent.tunnels), quiet: agent.tunnels === 0 };
    case 'pending':
      return { text: shortCount(agent.pendingDials), quiet: agent.pendingDials === 0 };
    case 'dials':
      return rates === undefined ? none : { text: rateText(rates.now.dialsPerSecond) };
    case 'to-node':
      return rates === undefined ? none : { text: bytesText(rates.now.bytesToNodePerSecond) };
    case 'from-node': {
      if (rates === undefined) return none;
      const bars = sparkline(rates.fromNode, 4, glyphs.spark);
      return { text: `${bars}${bytesText(rates.now.bytesFromNodePerSecond).padStart(7)}` };
    }
    case 'rtt':
      return { text: roundTripText(agent.roundTripSeconds) };
    case 'state':
    case 'agent':
      return { text: '' };
  }
}

/** The first thing that an agent serves, and how many more: `10.0.1.17 +2`. */
function servesText({ identifiers }: Agent): string {
  const [first, ...more] = identifiers;
  if (first === undefined) return '';
  const text =
    first.kind === 'default-route'
      ? 'default-route'
      : first.kind === 'host'
        ? `host=${first.value}`
        : first.value;
  return more.length === 0 ? safeText(text) : `${safeText(text)} +${more.length}`;
}
