import { type Action, actionOf } from '../keys.ts';
import { scrollEnd } from '../layout/scroll-end.ts';
import type { Key } from '../terminal/key.ts';
import { arrange, chosen, moveCursor, nextSort, tableRows, toggleMark, withTable } from './agent-table.ts';
import { openClose, openDrain, openUndrain } from './open-dialog.ts';
import { inScope } from './scope.ts';
import { EMPTY_FIELD, editField, fieldOf } from './text-field.ts';
import { mayAct, NOTHING_LOADED, type TopState, TUNNEL_SORTS, type View, viewOf } from './top-state.ts';

/** A key where no dialog is open. */
export function reduceViewKey(state: TopState, key: Key): TopState {
  if (state.table.typing !== undefined) return typeFilter(state, key);
  const view = viewOf(state);
  const action = actionOf(key, view.kind, mayAct(state), state.inDemo);
  if (action !== undefined) return act(state, view, action);
  if (view.kind !== 'selection') return state;
  const target = editField(view.target, key);
  if (target === undefined) return state;
  const data = target.text.trim() === view.target.text.trim() ? view.data : NOTHING_LOADED;
  return replaceView(state, { ...view, target, data });
}

function act(state: TopState, view: View, action: Action): TopState {
  switch (action) {
    case 'up':
      return move(state, view, -1);
    case 'down':
      return move(state, view, 1);
    case 'page-up':
      return move(state, view, 1 - tableRows(state));
    case 'page-down':
      return move(state, view, tableRows(state) - 1);
    case 'first':
      return move(state, view, Number.NEGATIVE_INFINITY);
    case 'last':
      return move(state, view, Number.POSITIVE_INFINITY);
    case 'details':
      return openDetails(state, view);
    case 'drain':
      return openDrain(state, subject(state, view));
    case 'undrain':
      return openUndrain(state, subject(state, view));
    case 'close-tunnel':
      return view.kind === 'tunnels' ? openClose(state, view) : state;
    case 'try':
      return push(state, {
        kind: 'selection',
        target: startTarget(state, view),
        top: 0,
        data: NOTHING_LOADED,
      });
    case 'tunnels':
    case 'all-tunnels': {
      const agent = action === 'tunnels' ? subject(state, view)[0] : undefined;
      if (action === 'tunnels' && agent === undefined) return state;
      return push(state, {
        kind: 'tunnels',
        agent,
        sort: 'age',
        selected: undefined,
        top: 0,
        data: NOTHING_LOADED,
      });
    }
    case 'events':
    case 'all-events': {
      const agent = action === 'events' ? subject(state, view)[0] : undefined;
      if (action === 'events' && agent === undefined) return state;
      return push(state, { kind: 'events', agent, back: 0, events: [], failure: undefined });
    }
    case 'filter':
      return { ...state, table: { ...state.table, typing: fieldOf(state.table.filter) } };
    case 'sort':
      if (view.kind !== 'tunnels') return nextSort(state);
      return replaceView(state, { ...view, sort: nextOf(TUNNEL_SORTS, view.sort), data: NOTHING_LOADED });
    case 'draining-only':
      return arrange({ ...state, table: { ...state.table, drainingOnly: !state.table.drainingOnly } });
    case 'mark':
      return toggleMark(state);
    case 'unmark':
      return { ...state, table: { ...state.table, marked: new Set() } };
    case 'previous-server':
    case 'next-server':
      return switchServer(state, action === 'next-server' ? 1 : -1);
    case 'back':
      return back(state);
    case 'help':
      return view.kind === 'help' ? back(state) : push(state, { kind: 'help', top: 0 });
    case 'redraw':
      return { ...state, wants: 'redraw' };
    case 'lines':
      return { ...state, wants: 'lines' };
    case 'suspend':
      return { ...state, wants: 'suspend' };
    case 'quit':
      return { ...state, wants: 'quit' };
  }
}

/** The agents that a key is about in a view. */
function subject(state: TopState, view: View): readonly string[] {
  if (view.kind === 'details') return [view.id];
  return view.kind === 'agents' ? chosen(state) : [];
}

function openDetails(state: TopState, view: View): TopState {
  const id =
    view.kind === 'tunnels'
      ? view.data.value?.tunnels.find((tunnel) => tunnel.id === view.selected)?.agent
      : state.table.selected;
  return id === undefined ? state : push(state, { kind: 'details', id, top: 0, data: NOTHING_LOADED });
}

/** A destination to begin with: what the agent or the tunnel under the cursor is dialled for. */
function startTarget(state: TopState, view: View) {
  if (view.kind === 'tunnels') {
    const tunnel = view.data.value?.tunnels.find(({ id }) => id === view.selected);
    return tunnel === undefined ? EMPTY_FIELD : fieldOf(tunnel.destination);
  }
  const id = subject(state, view)[0];
  const agent = id === undefined ? undefined : state.agents.get(id);
  const one = agent?.identifiers.find(({ kind }) => kind === 'host' || kind === 'ipv4' || kind === 'ipv6');
  return one === undefined ? EMPTY_FIELD : fieldOf(one.value);
}

function move(state: TopState, view: View, by: number): TopState {
  switch (view.kind) {
    case 'agents':
      return moveCursor(state, by);
    case 'tunnels': {
      const ids = view.data.value?.tunnels.map(({ id }) => id) ?? [];
      const at = Math.max(0, ids.indexOf(view.selected ?? ''));
      const selected = ids[Math.max(0, Math.min(ids.length - 1, at + by))];
      return replaceView(state, { ...view, selected });
    }
    case 'events': {
      const back = Math.max(0, Math.min(view.back - by, Math.max(0, view.events.length - tableRows(state))));
      return replaceView(state, { ...view, back });
    }
    case 'details':
    case 'help':
    case 'selection':
      return replaceView(state, {
        ...view,
        top: Math.max(0, Math.min(view.top + by, scrollEnd(state, view))),
      });
  }
}

function back(state: TopState): TopState {
  if (state.views.length > 1) return { ...state, views: state.views.slice(0, -1) };
  return arrange({ ...state, table: { ...state.table, filter: '', drainingOnly: false } });
}

function switchServer(state: TopState, by: number): TopState {
  const { servers, scope } = state;
  if (servers.length < 2) return state;
  const choices: (number | 'all')[] = ['all', ...servers.keys()];
  const next = choices[(choices.indexOf(scope) + by + choices.length) % choices.length] ?? 'all';
  return inScope({ ...state, scope: next, rates: new Map(), views: state.views.map(emptied) });
}

/** What another server said is not what this one says. */
function emptied(view: View): View {
  if (view.kind === 'events') return { ...view, events: [], back: 0, failure: undefined };
  return 'data' in view ? { ...view, data: NOTHING_LOADED } : view;
}

function typeFilter(state: TopState, key: Key): TopState {
  const { table } = state;
  if (key.kind === 'named') {
    if (key.name === 'enter') {
      const filter = table.typing?.text.trim() ?? '';
      return arrange({ ...state, table: { ...table, filter, typing: undefined } });
    }
    if (key.name === 'escape') return arrange({ ...state, table: { ...table, typing: undefined } });
    if (key.name === 'ctrl-c') return { ...state, wants: 'quit' };
    if (key.name === 'ctrl-z') return { ...state, wants: 'suspend' };
    if (key.name === 'up' || key.name === 'down') return moveCursor(state, key.name === 'up' ? -1 : 1);
  }
  const typing = editField(table.typing ?? EMPTY_FIELD, key);
  return typing === undefined
    ? state
    : withTable(arrange({ ...state, table: { ...table, typing } }), { top: 0 });
}

function push(state: TopState, view: View): TopState {
  return { ...state, views: [...state.views, view].slice(-MAX_VIEWS) };
}

const MAX_VIEWS = 8;

function replaceView(state: TopState, view: View): TopState {
  return { ...state, views: [...state.views.slice(0, -1), view] };
}

function nextOf<T>(all: readonly T[], now: T): T {
  return all[(all.indexOf(now) + 1) % all.length] ?? now;
}
