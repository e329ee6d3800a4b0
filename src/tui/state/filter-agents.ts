import type { Agent } from '../../proxy/admin/model/agent.ts';

/**
 * A test for the words of a filter, all of which have to be in an agent's ID, state, conditions, kind or identifiers,
 * whatever their case; `!word` must not be.
 */
export function agentFilter(text: string): (agent: Agent) => boolean {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '' && word !== '!');
  if (words.length === 0) return () => true;
  return (agent) => {
    const hay = haystack(agent);
    return words.every((word) => (word[0] === '!' ? !hay.includes(word.slice(1)) : hay.includes(word)));
  };
}

function haystack(agent: Agent): string {
  const identifiers = agent.identifiers.map(({ kind, value }) => `${kind}=${value}`);
  const { id, state, kind, conditions, source = '', order } = agent;
  return [
    id,
    state,
    kind,
    source,
    order?.id ?? '',
    order?.actor ?? '',
    order?.reason ?? '',
    ...conditions,
    ...identifiers,
  ]
    .join('\n')
    .toLowerCase();
}
