import type { Agent, Identifier } from '../proxy/admin/model/agent.ts';
import { Fault } from '../proxy/ops/fault.ts';
import { closestName } from './flags/closest-name.ts';
import { shellWord } from './shell-word.ts';

const MOST_PROPOSALS = 5;

export interface FoundAgents {
  readonly agents: readonly Agent[];
  /** IDs of which only the beginning was given: to be confirmed. */
  readonly guessed: readonly string[];
}

export interface FindRules {
  /** Somebody can be asked, and all servers answered: a beginning that only one ID has is taken. */
  readonly byPrefix: boolean;
  /** The command that lists agents, for refusals. */
  readonly listing: string;
}

/**
 * The agents that the arguments of a command name: whole IDs, `kind=value` of an identifier, or (by the rules) the
 * beginning of an ID.
 * @throws Fault admin-not-found or agent-ambiguous, with what might be meant
 */
export function findAgents(
  names: readonly string[],
  agents: readonly Agent[],
  rules: FindRules,
): FoundAgents {
  const found = new Map<string, Agent>();
  const guessed: string[] = [];
  const byId = new Map(agents.map((agent) => [agent.id, agent]));
  for (const name of names) {
    const agent = byId.get(name) ?? byIdentifier(name, agents, rules);
    if (agent !== undefined) found.set(agent.id, agent);
    else {
      const guess = byPrefix(name, agents, rules);
      found.set(guess.id, guess);
      guessed.push(guess.id);
    }
  }
  return { agents: [...found.values()], guessed };
}

function byIdentifier(name: string, agents: readonly Agent[], rules: FindRules): Agent | undefined {
  const match = /^(host|ipv4|ipv6|cidr|default-route)=(.*)$/s.exec(name);
  if (match === null) return undefined;
  const [, kind, value = ''] = match;
  const has = (identifier: Identifier): boolean =>
    identifier.kind === kind && identifier.value.toLowerCase() === value.toLowerCase();
  const matching = agents.filter((agent) => agent.identifiers.some(has));
  // One that is gone steps back behind one that has taken its place.
  const living = matching.filter((agent) => agent.state !== 'gone');
  const [only, ...more] = living.length > 0 ? living : matching;
  if (only === undefined) {
    throw new Fault(
      'admin-not-found',
      `no agent has the identifier ${shellWord(name)}`,
      `see ${rules.listing} -o wide`,
    );
  }
  if (more.length === 0) return only;
  throw new Fault(
    'agent-ambiguous',
    `${more.length + 1} agents have ${shellWord(name)}: ${idList([only, ...more])}`,
    'give their IDs',
  );
}

function byPrefix(name: string, agents: readonly Agent[], rules: FindRules): Agent {
  const beginning = name === '' ? [] : agents.filter((agent) => agent.id.startsWith(name));
  const [only, ...more] = beginning;
  if (only !== undefined && more.length === 0 && rules.byPrefix) return only;
  if (only !== undefined) {
    const what =
      more.length > 0
        ? `${shellWord(name)} is the beginning of ${beginning.length} IDs`
        : `there is no agent ${shellWord(name)}`;
    throw new Fault(
      more.length > 0 ? 'agent-ambiguous' : 'admin-not-found',
      what,
      `did you mean ${idList(beginning)}? Give the whole ID`,
    );
  }
  const close = closestName(
    name,
    agents.map((agent) => agent.id),
  );
  throw new Fault(
    'admin-not-found',
    `there is no agent ${shellWord(name)}`,
    close === undefined
      ? `list them: ${rules.listing}`
      : `did you mean ${shellWord(close)}? List them: ${rules.listing}`,
  );
}

function idList(agents: readonly Agent[]): string {
  const ids = agents.slice(0, MOST_PROPOSALS).map((agent) => shellWord(agent.id));
  const more = agents.length - ids.length;
  return `${ids.join(', ')}${more > 0 ? ` or ${more} others` : ''}`;
}
