import type { View } from './state/top-state.ts';
import type { Key } from './terminal/key.ts';

/** Everything that a key can do outside of dialogs and text fields. */
export type Action =
  | 'up'
  | 'down'
  | 'page-up'
  | 'page-down'
  | 'first'
  | 'last'
  | 'details'
  | 'drain'
  | 'undrain'
  | 'try'
  | 'tunnels'
  | 'all-tunnels'
  | 'events'
  | 'all-events'
  | 'close-tunnel'
  | 'filter'
  | 'sort'
  | 'draining-only'
  | 'mark'
  | 'unmark'
  | 'previous-server'
  | 'next-server'
  | 'redraw'
  | 'back'
  | 'help'
  | 'lines'
  | 'suspend'
  | 'quit';

export interface Binding {
  readonly action: Action;
  /** Letters as typed, or names of keys. */
  readonly keys: readonly string[];
  /** How help and footer write them. */
  readonly shown: string;
  /** In the footer; absent: in the help alone. */
  readonly label?: string;
  readonly help: string;
  readonly views: readonly View['kind'][];
  /** Begins something that changes a server: viewers and --read-only do not have it. */
  readonly acts?: true;
  /** Exists in the demo alone. */
  readonly demo?: true;
  /** The footer keeps the smaller ones when room is short. */
  readonly priority?: number;
}

const LISTS = ['agents', 'tunnels'] as const;
const SCROLLING = ['agents', 'details', 'tunnels', 'events', 'help'] as const;
const ALL = ['agents', 'details', 'tunnels', 'events', 'selection', 'help'] as const;
const ABOUT_AGENTS = ['agents', 'details'] as const;

/** The one table of keys: help, footer, read-only mode and tests follow it. */
export const BINDINGS: readonly Binding[] = [
  { action: 'up', keys: ['up', 'k'], shown: '↑ k', help: 'one row up', views: ALL },
  { action: 'down', keys: ['down', 'j'], shown: '↓ j', help: 'one row down', views: ALL },
  { action: 'page-up', keys: ['page-up'], shown: 'PgUp', help: 'one page up', views: ALL },
  { action: 'page-down', keys: ['page-down'], shown: 'PgDn', help: 'one page down', views: ALL },
  { action: 'first', keys: ['home', 'g'], shown: 'Home g', help: 'to the first row', views: SCROLLING },
  { action: 'last', keys: ['end', 'G'], shown: 'End G', help: 'to the last row', views: SCROLLING },
  {
    action: 'details',
    keys: ['enter'],
    shown: 'enter',
    label: 'details',
    help: 'the agent: streams, order, tunnels, ends, events',
    views: LISTS,
    priority: 3,
  },
  {
    action: 'drain',
    keys: ['d'],
    shown: 'd',
    label: 'drain',
    help: 'drain the agent, or the marked ones (asks)',
    views: ABOUT_AGENTS,
    acts: true,
    priority: 2,
  },
  {
    action: 'undrain',
    keys: ['u'],
    shown: 'u',
    label: 'undrain',
    help: 'end its drain order, or those of the marked ones (asks)',
    views: ABOUT_AGENTS,
    acts: true,
    priority: 2,
  },
  {
    action: 'try',
    keys: ['t'],
    shown: 't',
    label: 'try a destination',
    help: 'which agent would carry a dial, and why (a dry run)',
    views: ['agents', 'details', 'tunnels', 'events'],
    priority: 5,
  },
  {
    action: 'tunnels',
    keys: ['T'],
    shown: 'T',
    label: 'tunnels',
    help: 'the tunnels of the agent',
    views: ABOUT_AGENTS,
    priority: 6,
  },
  {
    action: 'all-tunnels',
    keys: ['A'],
    shown: 'A',
    help: 'the tunnels of all agents',
    views: ['agents', 'details', 'tunnels', 'events'],
  },
  {
    action: 'events',
    keys: ['e'],
    shown: 'e',
    help: 'the events of the agent',
    views: ABOUT_AGENTS,
  },
  {
    action: 'all-events',
    keys: ['E'],
    shown: 'E',
    label: 'events',
    help: 'what happened lately',
    views: ['agents', 'details', 'tunnels', 'events'],
    priority: 7,
  },
  {
    action: 'close-tunnel',
    keys: ['x'],
    shown: 'x',
    label: 'close it',
    help: 'close the tunnel (asks)',
    views: ['tunnels'],
    acts: true,
    priority: 2,
  },
  {
    action: 'filter',
    keys: ['/'],
    shown: '/',
    label: 'filter',
    help: 'show agents with these words in ID, state, conditions or identifiers; !word: without it',
    views: ['agents'],
    priority: 4,
  },
  {
    action: 'sort',
    keys: ['s'],
    shown: 's',
    label: 'sort',
    help: 'sort by the next column',
    views: LISTS,
    priority: 8,
  },
  {
    action: 'draining-only',
    keys: ['D'],
    shown: 'D',
    label: 'draining only',
    help: 'show what is draining or drained alone',
    views: ['agents'],
    priority: 9,
  },
  {
    action: 'mark',
    keys: [' '],
    shown: 'space',
    label: 'mark',
    help: 'mark the agent, to act on several',
    views: ['agents'],
    acts: true,
    priority: 10,
  },
  { action: 'unmark', keys: ['c'], shown: 'c', help: 'take all marks away', views: ['agents'], acts: true },
  {
    action: 'previous-server',
    keys: ['['],
    shown: '[',
    help: 'of several servers: the one before; then all together',
    views: ALL,
  },
  {
    action: 'next-server',
    keys: [']'],
    shown: ']',
    label: 'next server',
    help: 'of several servers: the next one; then all together',
    views: ALL,
    priority: 11,
  },
  { action: 'redraw', keys: ['ctrl-l'], shown: 'Ctrl-L', help: 'draw the screen again', views: ALL },
  {
    action: 'back',
    keys: ['escape'],
    shown: 'esc',
    label: 'back',
    help: 'back; of the agents: without filter',
    views: ALL,
    priority: 1,
  },
  {
    action: 'lines',
    keys: ['h'],
    shown: 'h',
    label: 'lines',
    help: "the demo's lines; Enter returns",
    views: ['agents', 'details', 'tunnels', 'events', 'help'],
    demo: true,
    priority: 1,
  },
  { action: 'suspend', keys: ['ctrl-z'], shown: 'Ctrl-Z', help: 'to the shell; fg returns', views: ALL },
  { action: 'help', keys: ['?'], shown: '?', label: 'help', help: 'this page', views: ALL, priority: 0 },
  {
    action: 'quit',
    keys: ['q', 'ctrl-c'],
    shown: 'q',
    label: 'quit',
    help: 'leave; nothing is undone',
    views: ALL,
    priority: 0,
  },
];

/**
 * The bindings of a view, without those that act where nothing may be changed. Where letters are typed into a field,
 * those on letters do not exist.
 */
export function bindingsOf(view: View['kind'], mayAct: boolean, inDemo = false): readonly Binding[] {
  const here = BINDINGS.filter(
    ({ views, acts, demo }) =>
      views.includes(view) && (mayAct || acts === undefined) && (inDemo || demo === undefined),
  );
  if (view !== 'selection') return here;
  return here.flatMap((binding) => {
    const keys = binding.keys.filter((key) => key.length > 1);
    if (keys.length === 0) return [];
    return [{ ...binding, keys, shown: keys[0] === 'ctrl-c' ? 'Ctrl-C' : binding.shown }];
  });
}

/** What a key does in a view. A paste does nothing. */
export function actionOf(key: Key, view: View['kind'], mayAct: boolean, inDemo = false): Action | undefined {
  if (key.kind === 'paste') return undefined;
  const name = key.kind === 'text' ? key.text : key.name;
  return bindingsOf(view, mayAct, inDemo).find(({ keys }) => keys.includes(name))?.action;
}
