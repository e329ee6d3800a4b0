import type { Explanation } from '../../server/selection/explain.ts';
import type { NoneReason } from '../../server/selection/selection.ts';
import type { SelectableStream } from '../../server/selection/stream-state.ts';

const NOBODY: Readonly<Record<NoneReason, string>> = {
  'no-agents': 'no agent is connected',
  'no-match': 'no agent serves this destination under any of the strategies',
  waiting: 'the agents that serve this destination may not be chosen yet: they connected this instant',
  excluded: 'those that serve this destination were tried',
  'no-retry': 'no earlier strategy has a draining agent for it',
};

/** Why a dial would go where it goes, in one sentence. */
export function selectReason(explanation: Explanation<SelectableStream>): string {
  const { decision, choices, choice } = explanation;
  if (decision.stream === undefined) return NOBODY[decision.reason];
  const { pass, strategy, agentId } = decision;
  const key = explanation.strategies.find(({ name }) => name === strategy)?.key ?? '';
  const where = key === '' ? strategy : `${strategy} (${key})`;
  const passedOver = earlierMatches(explanation);
  const found =
    choices === 1
      ? `${agentId} is the only ${pass} agent of ${where}`
      : `${choices} ${pass} agents of ${where}, of which ${choice === 'random' ? 'one is taken at random' : 'the less loaded of two random ones is taken'}`;
  const instead =
    pass === 'ready'
      ? passedOver
      : `, and no agent is ready under any strategy: dials fall back to ${pass} ones`;
  return `${found}${instead}`;
}

/** Earlier strategies that have agents, none of which is ready. */
function earlierMatches({ decision, strategies }: Explanation<SelectableStream>): string {
  if (decision.stream === undefined) return '';
  const earlier: string[] = [];
  for (const { name, matches } of strategies) {
    if (name === decision.strategy) break;
    if (matches > 0) earlier.push(name);
  }
  return earlier.length === 0 ? '' : `; ${earlier.join(' and ')} matches agents that are not ready alone`;
}
