import type { Agent, AgentStream, Condition, Identifier, Rates } from './agent.ts';
import { CONDITIONS, IN_DOUBT } from './agent.ts';
import type { Order } from './order.ts';

/** What one server said of its agents, or that it did not answer. */
export interface ServerView {
  /** Of GetServer, where known: by it an agent's servers are found among those that answered. */
  readonly serverId?: string;
  /** --server-count of that server; a Go agent does not say of how many servers it knows. */
  readonly serverCount?: number;
  /** Absent when the server did not answer. */
  readonly agents?: readonly Agent[];
}

/** At most so many destinations are named, as a server does it. */
const LAST_FOR_LIMIT = 10;

/**
 * The agents of several servers, one for each ID and in the order of their IDs. An agent of ours speaks for all its
 * servers in its status, so its totals are taken as they are; a Go agent's are added up. `partial` is added where the
 * views contradict each other, where a server of the agent did not answer, and to Go agents of which not every server
 * was asked.
 */
export function mergeAgents(views: readonly ServerView[]): Agent[] {
  const byId = new Map<string, Agent[]>();
  for (const view of views) {
    for (const agent of view.agents ?? []) {
      const known = byId.get(agent.id);
      if (known === undefined) byId.set(agent.id, [agent]);
      else known.push(agent);
    }
  }
  const asked = askedOf(views);
  return [...byId.values()]
    .map((same) => mergeAgent(same, asked))
    .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}

/** Who was asked, as far as it decides how much a merged view can say. */
export interface Asked {
  /** IDs of the servers that answered. */
  readonly answered: ReadonlySet<string>;
  readonly answers: number;
  readonly lost: number;
  /** The largest --server-count of those that answered; 0 when none said one. */
  readonly serverCount: number;
}

export function askedOf(views: readonly ServerView[]): Asked {
  const answered = views.filter((view) => view.agents !== undefined);
  return {
    answered: new Set(answered.flatMap((view) => view.serverId ?? [])),
    answers: answered.length,
    lost: views.length - answered.length,
    serverCount: Math.max(0, ...views.map((view) => view.serverCount ?? 0)),
  };
}

/** The views that several servers have of one agent ID, as one. @param same at least one, all of the same ID */
export function mergeAgent(same: readonly Agent[], asked: Asked): Agent {
  // A server that lost the agent long ago says nothing about it while another still has it.
  const living = same.filter((agent) => agent.state !== 'gone');
  const views = living.length > 0 ? living : same;
  const first = newestOf(views);
  const serverIds = union(views.flatMap((agent) => agent.serverIds));
  const serverCount = Math.max(...views.map((agent) => agent.serverCount));
  const conditions = new Set(views.flatMap((agent) => agent.conditions));
  if (first.kind === 'go' && !goIsPartial(views, asked)) conditions.delete('partial');
  if (isPartial(views, first, serverIds, asked)) conditions.add('partial');
  if (new Set(views.flatMap((agent) => agent.instance ?? [])).size > 1) conditions.add('duplicate');
  const own = first.kind === 'ts';
  const order = orderOf(same);
  const leavingSince = least(views.map((agent) => agent.leavingSince));
  const oldest = least(views.map((agent) => agent.oldestTunnelSince));
  const lastSeen = greatest(same.map((agent) => agent.lastSeen));
  const roundTrips = views.flatMap((agent) => agent.roundTripSeconds ?? []);
  const rates = ratesOf(views);
  const source = views.some((agent) => agent.source === 'leaving')
    ? 'leaving'
    : views.find((agent) => agent.source !== undefined)?.source;
  return {
    ...first,
    state: stateOf(views),
    conditions: CONDITIONS.filter((condition) => conditions.has(condition)),
    ...(source === undefined ? {} : { source }),
    ...(order === undefined ? {} : { order }),
    ...(leavingSince === undefined ? {} : { leavingSince }),
    identifiers: identifiersOf(views),
    streams: views.flatMap((agent) => agent.streams),
    serverIds,
    serverCount: own ? serverCount : Math.max(serverCount, asked.serverCount),
    tunnels: own ? Math.max(...views.map((agent) => agent.tunnels)) : sum(views, (a) => a.tunnelsHere),
    pendingDials: own
      ? Math.max(...views.map((agent) => agent.pendingDials))
      : sum(views, (a) => a.pendingDialsHere),
    tunnelsHere: sum(views, (a) => a.tunnelsHere),
    pendingDialsHere: sum(views, (a) => a.pendingDialsHere),
    ...(oldest === undefined ? {} : { oldestTunnelSince: oldest }),
    safeToStop: isSafeToStop(views, serverIds, conditions, asked),
    lastFor: union(views.flatMap((agent) => agent.lastFor)).slice(0, LAST_FOR_LIMIT),
    reconnects: sum(same, (a) => a.reconnects),
    ...(lastSeen === undefined ? {} : { lastSeen }),
    ...(rates === undefined ? {} : { rates }),
    bufferedBytes: sum(views, (a) => a.bufferedBytes),
    pausedTunnels: sum(views, (a) => a.pausedTunnels),
    ...(roundTrips.length === 0 ? {} : { roundTripSeconds: Math.max(...roundTrips) }),
    replacements: Math.min(...views.map((agent) => agent.replacements)),
  };
}

/**
 * Our agent carries what its servers say of who takes over, so any of them may say it for all; where it cannot, all
 * servers of the agent have to be asked. Of a Go agent a server never says it alone, unless there is no other.
 */
function isSafeToStop(
  views: readonly Agent[],
  serverIds: readonly string[],
  conditions: ReadonlySet<Condition>,
  asked: Asked,
): boolean {
  if (IN_DOUBT.some((condition) => conditions.has(condition))) return false;
  const isOwn = !views.some((agent) => agent.kind === 'go');
  if (isOwn && views.every((agent) => agent.safeToStop)) return true;
  return (
    serverIds.every((id) => asked.answered.has(id)) &&
    stateOf(views) === 'drained' &&
    views.every((agent) => agent.lastFor.length === 0 && agent.replacements > 0)
  );
}

/** Drained only where every server says so; draining as soon as one does. */
function stateOf(views: readonly Agent[]): Agent['state'] {
  const states = new Set(views.map((agent) => agent.state));
  if (states.size === 1) return views[0]?.state ?? 'gone';
  return 'draining';
}

function isPartial(
  views: readonly Agent[],
  first: Agent,
  serverIds: readonly string[],
  asked: Asked,
): boolean {
  const drains = views.map((agent) => agent.state === 'draining' || agent.state === 'drained');
  if (drains.some((drain) => drain !== drains[0])) return true;
  if (new Set(views.flatMap((agent) => agent.order?.id ?? [])).size > 1) return true;
  if (first.kind === 'go') return goIsPartial(views, asked);
  return asked.lost > 0 && serverIds.some((id) => !asked.answered.has(id));
}

/** Of a Go agent a server knows only what it sees itself. */
function goIsPartial(views: readonly Agent[], asked: Asked): boolean {
  return asked.lost > 0 || asked.answers < Math.max(asked.serverCount, ...views.map((a) => a.serverCount));
}

/** The view with the stream that was made last: an agent that restarted is known there as it is now. */
function newestOf(views: readonly Agent[]): Agent {
  let newest = views[0] as Agent;
  for (const view of views) {
    if (latestStream(view.streams) > latestStream(newest.streams)) newest = view;
  }
  return newest;
}

function latestStream(streams: readonly AgentStream[]): number {
  return Math.max(0, ...streams.map((stream) => stream.connectedSince.getTime()));
}

/** The newest version; the server that stores it knows more than one that heard of it. */
function orderOf(views: readonly Agent[]): Order | undefined {
  let best: Order | undefined;
  for (const { order } of views) {
    if (order === undefined) continue;
    const better =
      best === undefined ||
      order.version > best.version ||
      (order.version === best.version && best.relayed && !order.relayed);
    if (better) best = order;
  }
  return best;
}

function identifiersOf(views: readonly Agent[]): Identifier[] {
  const byText = new Map<string, Identifier>();
  for (const one of views.flatMap((agent) => agent.identifiers)) byText.set(`${one.kind}=${one.value}`, one);
  return [...byText.values()];
}

function ratesOf(views: readonly Agent[]): Rates | undefined {
  const all = views.flatMap((agent) => agent.rates ?? []);
  if (all.length === 0) return undefined;
  const add = (key: keyof Rates): number => all.reduce((total, rates) => total + rates[key], 0);
  return {
    dialsPerSecond: add('dialsPerSecond'),
    bytesToNodePerSecond: add('bytesToNodePerSecond'),
    bytesFromNodePerSecond: add('bytesFromNodePerSecond'),
  };
}

function sum(views: readonly Agent[], of: (agent: Agent) => number): number {
  return views.reduce((total, agent) => total + of(agent), 0);
}

function union(values: readonly string[]): string[] {
  return [...new Set(values)];
}

function least(dates: readonly (Date | undefined)[]): Date | undefined {
  return dates.reduce((a, b) => (a === undefined || (b !== undefined && b < a) ? b : a), undefined);
}

function greatest(dates: readonly (Date | undefined)[]): Date | undefined {
  return dates.reduce((a, b) => (a === undefined || (b !== undefined && b > a) ? b : a), undefined);
}

/** The condition to show where there is room for one. */
export function worstOf(conditions: readonly Condition[]): Condition | undefined {
  return CONDITIONS.find((condition) => conditions.includes(condition));
}
