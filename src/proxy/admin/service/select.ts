import type { Backend } from '../../server/backend.ts';
import type { ProxyServer } from '../../server/proxy-server.ts';
import { type Exclusion, type ExplainedStrategy, explain } from '../../server/selection/explain.ts';
import type { SelectCandidate, Selection, SelectRequest } from '../model/selection.ts';
import { assumedSelector } from './assumed-selector.ts';
import { checkTarget } from './check-target.ts';
import { latestTunnels } from './list-tunnels.ts';
import { badRequest } from './requests.ts';
import { selectReason } from './select-reason.ts';
import { now } from './shown-tunnel.ts';

const MOST_CANDIDATES = 50;
const MOST_HISTORY = 100;
const MOST_ASSUMED = 1_000;

const EXCLUDED: Readonly<Record<Exclusion, string>> = {
  draining: 'draining, and a ready agent was found',
  suspect: 'suspect, and a better agent was found',
  'later-strategy': 'an earlier strategy has as good a match',
  'no-status': 'has not announced itself yet',
  'second-stream': 'its younger stream waits beside an older one',
};

/** A dry run of a dial, by the code that real dials are given out by. @throws Fault `admin-bad-request` */
export function select(server: ProxyServer, request: SelectRequest): Selection {
  const { target, assumeDrained = [], assumeGone = [], history = 0 } = request;
  checkTarget(target);
  if (history < 0 || history > MOST_HISTORY) {
    throw badRequest(`a history of ${history} is out of bounds`, `give 0 to ${MOST_HISTORY}`);
  }
  checkAssumed('assume_drained', assumeDrained);
  checkAssumed('assume_gone', assumeGone);
  const gone = new Set(assumeGone);
  const drained = new Set(assumeDrained);
  const selector =
    gone.size + drained.size === 0 ? server.backends.selector : assumedSelector(server, drained, gone);
  const explanation = explain<Backend>(selector, target, MOST_CANDIDATES);
  const { decision } = explanation;
  const chosen = decision.stream === undefined ? undefined : decision;
  return {
    server: server.options.serverId,
    target,
    choice: explanation.choice === 'least-loaded' ? 'least' : explanation.choice,
    agent: chosen?.agentId ?? '',
    strategy: chosen?.strategy ?? '',
    fallback: chosen === undefined ? true : chosen.fallback,
    reason: selectReason(explanation),
    strategies: explanation.strategies.map((strategy) =>
      shownStrategy(strategy, drained, server, gone, target),
    ),
    looks: explanation.looks,
    choices: explanation.choices,
    history: history === 0 ? [] : latestTunnels(server, target, now(), history),
  };
}

function checkAssumed(field: string, agentIds: readonly string[]): void {
  if (agentIds.length <= MOST_ASSUMED) return;
  throw badRequest(`${field} names ${agentIds.length} agents`, `name at most ${MOST_ASSUMED}`);
}

function shownStrategy(
  { name, key, matches, candidates }: ExplainedStrategy,
  drained: ReadonlySet<string>,
  server: ProxyServer,
  gone: ReadonlySet<string>,
  target: string,
): Selection['strategies'][number] {
  const shown = candidates.map(({ agentId, state, excluded }): SelectCandidate => {
    if (excluded === undefined) return { id: agentId, state };
    const assumed = drained.has(agentId) && state === 'draining' ? ' (assumed)' : '';
    return { id: agentId, state, excluded: EXCLUDED[excluded].replace('draining', `draining${assumed}`) };
  });
  return {
    name,
    key,
    matches,
    candidates: [...shown, ...assumedGone(server, name, gone, target)].slice(0, MOST_CANDIDATES),
  };
}

/** Agents that would match, were they not assumed to be gone. */
function assumedGone(
  server: ProxyServer,
  strategy: string,
  gone: ReadonlySet<string>,
  target: string,
): SelectCandidate[] {
  const { registry } = server.backends;
  const pool = registry.strategies.find(({ name }) => name === strategy)?.poolFor(target);
  if (pool === undefined) return [];
  return [...gone]
    .filter((agentId) =>
      registry
        .streamsOf(agentId)
        .some((stream) => registry.stateOf(stream)?.members.some((membership) => membership.pool === pool)),
    )
    .map((id) => ({ id, state: 'gone', excluded: 'assumed to be gone' }));
}
