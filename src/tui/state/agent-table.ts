import { safeText, widthOf } from '../text/safe-text.ts';
import { agentFilter } from './filter-agents.ts';
import { SORTS, sortIds, steadyKeys } from './sort-agents.ts';
import type { AgentTable, TopState } from './top-state.ts';

/** Lines around the rows of a table: two of the head, the columns, the story, the footer. */
const AROUND = 5;

/** Rows that the agents' table has on this screen. */
export function tableRows({ rows }: Pick<TopState, 'rows'>): number {
  return Math.max(1, rows - AROUND);
}

/** Sorts and filters anew, unless a dialog is open: under a question nothing moves. */
export function arrange(state: TopState): TopState {
  if (state.dialog !== undefined) return state;
  const { table, agents, nowMs } = state;
  const keys = steadyKeys(agents.values(), table.sort, table.keys, nowMs);
  const filter = table.typing?.text ?? table.filter;
  const all = filter === '' && !table.drainingOnly;
  // Thousands of agents are the same ones in the same order, most of the time.
  if (all && keys === table.keys && table.order.length === agents.size) return state;
  const matches = agentFilter(filter);
  const ids: string[] = [];
  let idWidth = 0;
  for (const agent of agents.values()) {
    const { id, state: word } = agent;
    idWidth = Math.max(idWidth, widthOf(safeText(id)) + (agent.kind === 'go' ? 3 : 0));
    if (table.drainingOnly && word !== 'draining' && word !== 'drained') continue;
    if (matches(agent)) ids.push(id);
  }
  const marked = new Set([...table.marked].filter((id) => agents.has(id)));
  return withTable(state, { keys, order: sortIds(ids, keys), marked, idWidth });
}

/** Changes the table and keeps the cursor on its agent; of one that is gone, on the row where it was. */
export function withTable(state: TopState, change: Partial<AgentTable>): TopState {
  const before = state.table;
  const table = { ...before, ...change };
  const { order } = table;
  let at = table.selected === undefined ? -1 : order.indexOf(table.selected);
  if (at < 0 && order.length > 0) {
    const was = table.selected === undefined ? 0 : before.order.indexOf(table.selected);
    at = Math.min(Math.max(0, was), order.length - 1);
  }
  // Hidden by a filter, it is still the one that was meant, unless there is another to stand on.
  const selected = at < 0 ? table.selected : order[at];
  return {
    ...state,
    table: { ...table, selected, top: scrollTo(table.top, at, order.length, tableRows(state)) },
  };
}

/** The first visible row, moved no further than it takes to show row `at`. */
export function scrollTo(top: number, at: number, length: number, rows: number): number {
  let first = top;
  if (at >= 0) {
    if (at < first) first = at;
    if (at >= first + rows) first = at - rows + 1;
  }
  return Math.max(0, Math.min(first, length - rows));
}

/** Moves the cursor by rows. */
export function moveCursor(state: TopState, rows: number): TopState {
  const { order, selected } = state.table;
  if (order.length === 0) return state;
  const at = selected === undefined ? 0 : Math.max(0, order.indexOf(selected));
  const next = order[Math.max(0, Math.min(order.length - 1, at + rows))];
  return withTable(state, { selected: next });
}

/** The next column to sort by. */
export function nextSort(state: TopState): TopState {
  const sort = SORTS[(SORTS.indexOf(state.table.sort) + 1) % SORTS.length] ?? 'attention';
  return arrange({ ...state, table: { ...state.table, sort, keys: new Map() } });
}

/** Marks the agent under the cursor, or takes its mark away, and goes on to the next row. */
export function toggleMark(state: TopState): TopState {
  const { selected, marked } = state.table;
  if (selected === undefined) return state;
  const next = new Set(marked);
  if (!next.delete(selected)) next.add(selected);
  return moveCursor({ ...state, table: { ...state.table, marked: next } }, 1);
}

/** The agents that an action is about: the marked ones in their order on the screen, or the one under the cursor. */
export function chosen({ table, agents }: TopState): readonly string[] {
  if (table.marked.size > 0) {
    const shown = table.order.filter((id) => table.marked.has(id));
    // Marked ones that a filter hides are still marked.
    return [...shown, ...[...table.marked].filter((id) => !shown.includes(id)).sort()];
  }
  return table.selected !== undefined && agents.has(table.selected) ? [table.selected] : [];
}
