import { type Agent, CONDITIONS } from '../../proxy/admin/model/agent.ts';

/** What the agents can be sorted by; `s` goes through them. */
export const SORTS = ['attention', 'agent', 'tunnels', 'oldest', 'buffered', 'round trip'] as const;
export type AgentSort = (typeof SORTS)[number];

/** What an agent is sorted by, and since when another value would have been better. */
export interface SortKey {
  readonly value: number;
  readonly betterSinceMs: number | undefined;
}
export type SortKeys = ReadonlyMap<string, SortKey>;

export const DEFAULT_STEADY_MS = 3_000;
/** A number moves its row when it changed by this part. */
const PART = 0.25;

/** Conditions, worst first, then draining, drained, ready, gone: what needs a person is at the top. */
export function attentionRank({ state, conditions }: Pick<Agent, 'state' | 'conditions'>): number {
  const worst = conditions[0];
  if (worst !== undefined && state !== 'gone') return CONDITIONS.indexOf(worst);
  return CONDITIONS.length + ['draining', 'drained', 'ready', 'gone'].indexOf(state);
}

/**
 * The keys after a refresh. An agent that needs more attention moves at once; one that needs less stays for
 * `steadyMs`, and a number counts as changed only from a quarter on, so that no row jumps because of jitter. Where no
 * key changed, they are the very ones that were held.
 */
export function steadyKeys(
  agents: Iterable<Agent>,
  sort: AgentSort,
  held: SortKeys,
  nowMs: number,
  steadyMs = DEFAULT_STEADY_MS,
): SortKeys {
  const keys = new Map<string, SortKey>();
  let same = true;
  for (const agent of agents) {
    const value = sortValue(agent, sort);
    const before = held.get(agent.id);
    const key = nextKey(before, value, sort, nowMs, steadyMs);
    if (key !== before) same = false;
    keys.set(agent.id, key);
  }
  return same && keys.size === held.size ? held : keys;
}

function nextKey(
  before: SortKey | undefined,
  value: number,
  sort: AgentSort,
  nowMs: number,
  steadyMs: number,
): SortKey {
  if (before === undefined) return { value, betterSinceMs: undefined };
  if (sort === 'attention') return attentionKey(before, value, nowMs, steadyMs);
  return moved(before.value, value, sort) ? { value, betterSinceMs: undefined } : before;
}

/** Times do not jitter, amounts do. */
function moved(before: number, value: number, sort: AgentSort): boolean {
  if (value === before) return false;
  if (sort === 'oldest' || !Number.isFinite(before) || !Number.isFinite(value)) return true;
  return Math.abs(value - before) > PART * Math.abs(before);
}

function attentionKey(before: SortKey, value: number, nowMs: number, steadyMs: number): SortKey {
  if (value <= before.value) {
    return value === before.value && before.betterSinceMs === undefined
      ? before
      : { value, betterSinceMs: undefined };
  }
  // Between draining and ready there is no jitter; a condition may come and go.
  if (before.value >= CONDITIONS.length) return { value, betterSinceMs: undefined };
  const betterSinceMs = before.betterSinceMs ?? nowMs;
  return nowMs - betterSinceMs >= steadyMs
    ? { value, betterSinceMs: undefined }
    : { value: before.value, betterSinceMs };
}

/** IDs by key, ties by ID. */
export function sortIds(ids: Iterable<string>, keys: SortKeys): string[] {
  const rows = Array.from(ids, (id) => ({ id, value: keys.get(id)?.value ?? Number.POSITIVE_INFINITY }));
  rows.sort((a, b) => a.value - b.value || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  return rows.map(({ id }) => id);
}

/** The smaller, the higher on the screen. */
function sortValue(agent: Agent, sort: AgentSort): number {
  switch (sort) {
    case 'attention':
      return attentionRank(agent);
    case 'agent':
      return 0;
    case 'tunnels':
      return -agent.tunnels;
    case 'oldest':
      return agent.oldestTunnelSince?.getTime() ?? Number.POSITIVE_INFINITY;
    case 'buffered':
      return -agent.bufferedBytes;
    case 'round trip':
      return -(agent.roundTripSeconds ?? -1);
  }
}
