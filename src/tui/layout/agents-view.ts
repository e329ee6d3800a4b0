import type { Agent } from '../../proxy/admin/model/agent.ts';
import { tableRows } from '../state/agent-table.ts';
import type { TopState } from '../state/top-state.ts';
import { safeText, widthOf } from '../text/safe-text.ts';
import { agentCells, type Column, columnsFor } from './agent-columns.ts';
import { type Line, line, type Span, span } from './span.ts';
import { story } from './story.ts';

/** The table of agents, the rows that fit alone, and the story of the one under the cursor. */
export function agentsView(state: TopState): readonly Line[] {
  const { table, agents } = state;
  const rows = tableRows(state);
  const columns = columnsFor(state.columns, table.idWidth);
  const shown = table.order.slice(table.top, table.top + rows);
  const body = shown.map((id) => row(state, id, agents.get(id), columns));
  if (body.length === 0) body.push(line(span('   '), span(emptyText(state), 'quiet')));
  while (body.length < rows) body.push({ spans: [] });
  return [head(state, columns), ...body, story(state)];
}

function head({ table, columns: width, agents }: TopState, columns: readonly Column[]): Line {
  const sorted = SORTED[table.sort];
  const spans: Span[] = [span('   ')];
  for (const [i, column] of columns.entries()) {
    if (i > 0) spans.push(span(' '));
    spans.push(span(pad(column.title, column), column.name === sorted ? 'strong' : 'quiet'));
  }
  const notes: string[] = [];
  if (table.sort !== 'attention' && sorted === undefined) notes.push(`by ${table.sort}`);
  if (table.filter !== '' && table.typing === undefined) notes.push(`/${safeText(table.filter)}`);
  if (table.drainingOnly) notes.push('draining only');
  if (table.marked.size > 0) notes.push(`${table.marked.size} marked`);
  if (table.order.length < agents.size) notes.push(`${table.order.length} of ${agents.size}`);
  const text = notes.join('  ');
  if (text === '') return { spans };
  // What narrows the table is said over its right end, whatever columns stand there.
  const room = Math.max(0, width - widthOf(text) - 3);
  let left = room;
  const kept = spans.flatMap((one) => {
    const part = one.text.slice(0, Math.max(0, left));
    left -= one.text.length;
    return part === '' ? [] : [{ ...one, text: part }];
  });
  return { spans: [...kept, span(' '.repeat(Math.max(0, left))), span(`  ${text}`, 'busy')] };
}

const SORTED: Readonly<Partial<Record<TopState['table']['sort'], Column['name']>>> = {
  agent: 'agent',
  tunnels: 'tunnels',
  oldest: 'left',
  'round trip': 'rtt',
};

function row(state: TopState, id: string, agent: Agent | undefined, columns: readonly Column[]): Line {
  const { table, glyphs } = state;
  const selected = id === table.selected;
  const cursor = selected ? '>' : ' ';
  const mark = table.marked.has(id) ? glyphs.mark : ' ';
  const cells = agentCells(state, id, agent, columns);
  const spans: Span[] = [span(` ${cursor}${mark}`, 'strong')];
  for (const [i, cell] of cells.entries()) {
    if (i > 0) spans.push(span(' '));
    spans.push(cell);
  }
  return selected ? { spans, selected: true } : { spans };
}

function emptyText(state: TopState): string {
  const { agents, table, servers } = state;
  if (agents.size > 0) {
    const back = table.filter !== '' || table.drainingOnly ? '; esc shows all' : '';
    return `none of ${agents.size} agents matches${back}`;
  }
  // That there is none is known of a server that said its agents.
  if (servers.every(({ link }) => link.kind !== 'live')) {
    const reason = servers.flatMap(({ link }) => ('reason' in link ? (link.reason ?? []) : []))[0];
    return reason ?? 'asking the servers';
  }
  return 'no agent is connected';
}

function pad(text: string, { width, align }: Column): string {
  return align === 'right' ? text.padStart(width) : text.padEnd(width);
}
