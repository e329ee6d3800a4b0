import type { Backend } from '../../server/backend.ts';
import type { ProxyServer } from '../../server/proxy-server.ts';
import type { Identifiers } from '../../wire/identifiers.ts';
import { type Agent, type AgentStream, type Identifier, IN_DOUBT } from '../model/agent.ts';
import { conditionsOfAgent } from './agent-conditions.ts';
import { leftOver, stateOfAgent } from './agent-state.ts';
import { isReplacedEverywhere, replacementsOf } from './others-ready.ts';
import { shownOrder } from './shown-order.ts';
import { dateOf, type Moment } from './shown-tunnel.ts';

/** Tunnels that are paused for less come and go with every burst of bulk. */
export const PAUSED_MS = 1_000;
const CONNECTS_COUNTED_MS = 600_000;

export interface AgentView {
  readonly agent: Agent;
  /** When time alone changes it, on performance.now()'s clock. */
  readonly changesAtMs: number | undefined;
}

/** One agent ID as this server sees it now. @returns undefined for one that it does not know */
export function viewOfAgent(server: ProxyServer, agentId: string, at: Moment): AgentView | undefined {
  const { drain, backends } = server;
  if (!drain.known(agentId)) return undefined;
  const streams = backends.registry.streamsOf(agentId);
  const left = leftOver(streams);
  const { state, changesAtMs } = stateOfAgent(server, streams, left, at.monoMs);
  const order = drain.orderOf(agentId);
  const leavingSince = drain.leavingSinceUnixMs(agentId);
  const load = loadOf(streams, at);
  const fromConditions = conditionsOfAgent(server, streams, order, load.pausedTunnels, at.monoMs);
  const seen = drain.sightings.of(agentId);
  const newest = streams.at(-1);
  const replacements = replacementsOf(backends.registry, agentId);
  const lastFor = replacements > 0 || streams.length === 0 ? [] : drain.lastFor(agentId);
  const kind = seen?.kind ?? 'ts';
  const { serverId, serverCount } = server.options;
  const connects = seen?.connects ?? 0;
  const roundTripMs = newest === undefined ? undefined : backends.roundTripMs(newest);
  const agent: Agent = {
    id: agentId,
    state,
    conditions: fromConditions.conditions,
    ...sourceOf(streams, order !== undefined, state),
    ...(order === undefined ? {} : { order: shownOrder(order) }),
    ...(leavingSince === undefined ? {} : { leavingSince: new Date(leavingSince) }),
    kind,
    ...(seen?.instance === undefined ? {} : { instance: seen.instance }),
    ...(seen?.version === undefined ? {} : { version: seen.version }),
    identifiers: seen === undefined ? [] : shownIdentifiers(seen.identifiers),
    streams: streams.map((backend) => shownStream(server, backend)),
    serverIds: newest?.status?.serverIds ?? (streams.length === 0 ? [] : [serverId]),
    serverCount,
    ...left,
    ...(load.oldestMs === undefined ? {} : { oldestTunnelSince: dateOf(load.oldestMs, at) }),
    safeToStop:
      state === 'drained' &&
      lastFor.length === 0 &&
      (kind === 'ts' ? isReplacedEverywhere(backends.registry, agentId) : serverCount === 1) &&
      !IN_DOUBT.some((condition) => fromConditions.conditions.includes(condition)),
    lastFor,
    reconnects: (seen?.firstSeenAgoMs ?? 0) < CONNECTS_COUNTED_MS ? Math.max(0, connects - 1) : connects,
    ...(seen?.goneSinceUnixMs === undefined ? {} : { lastSeen: new Date(seen.goneSinceUnixMs) }),
    bufferedBytes: load.bufferedBytes,
    pausedTunnels: load.pausedTunnels,
    ...(roundTripMs === undefined ? {} : { roundTripSeconds: roundTripMs / 1000 }),
    replacements,
  };
  return { agent, changesAtMs: earlier(changesAtMs, fromConditions.changesAtMs) };
}

/** The part of an agent whose changes alone are not worth a message. That a round trip is known at last is worth one. */
export function withoutTrifles(agent: Agent): Agent {
  return { ...withoutDuration(agent), streams: agent.streams.map(withoutDuration), bufferedBytes: 0 };
}

function withoutDuration<T extends { readonly roundTripSeconds?: number }>(shown: T): T {
  return shown.roundTripSeconds === undefined ? shown : { ...shown, roundTripSeconds: 0 };
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b);
}

function sourceOf(
  streams: readonly Backend[],
  ordered: boolean,
  state: Agent['state'],
): Pick<Agent, 'source'> {
  if (streams.length > 0 && state !== 'ready' && streams.some((backend) => backend.leaving)) {
    return { source: 'leaving' };
  }
  return ordered ? { source: 'order' } : {};
}

interface Load {
  readonly oldestMs: number | undefined;
  readonly bufferedBytes: number;
  readonly pausedTunnels: number;
}

function loadOf(streams: readonly Backend[], at: Moment): Load {
  let oldestMs: number | undefined;
  let bufferedBytes = 0;
  let pausedTunnels = 0;
  for (const backend of streams) {
    for (const tunnel of backend.tunnels.values()) {
      if (oldestMs === undefined || tunnel.startedAtMs < oldestMs) oldestMs = tunnel.startedAtMs;
      bufferedBytes += tunnel.frontend.bufferedBytes;
      if (tunnel.pausedSinceMs !== undefined && tunnel.pausedSinceMs <= at.monoMs - PAUSED_MS)
        pausedTunnels++;
    }
  }
  return { oldestMs, bufferedBytes, pausedTunnels };
}

function shownStream(server: ProxyServer, backend: Backend): AgentStream {
  const marks = server.backends.registry.stateOf(backend);
  const choosable = backend.announces ? marks?.announced === true : marks?.settled === true;
  const roundTripMs = server.backends.roundTripMs(backend);
  return {
    serverId: server.options.serverId,
    remoteAddress: backend.remote,
    connectedSince: new Date(backend.connectedAtMs),
    ...(roundTripMs === undefined ? {} : { roundTripSeconds: roundTripMs / 1000 }),
    state: !choosable ? 'waiting' : marks?.suspect ? 'suspect' : marks?.draining ? 'draining' : 'ready',
    instance: backend.instance ?? '',
    version: backend.version ?? '',
    tunnels: backend.tunnels.size,
    pendingDials: backend.dials.size,
  };
}

function shownIdentifiers(identifiers: Identifiers): Identifier[] {
  const shown: Identifier[] = [];
  for (const kind of ['host', 'ipv4', 'ipv6', 'cidr'] as const) {
    for (const value of identifiers[kind]) shown.push({ kind, value });
  }
  if (identifiers.defaultRoute) shown.push({ kind: 'default-route', value: 'true' });
  return shown;
}
