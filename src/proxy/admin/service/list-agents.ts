import type { ProxyServer } from '../../server/proxy-server.ts';
import type { AdminMethods } from '../messages/message-types.ts';
import type { Agent } from '../model/agent.ts';
import { viewOfAgent } from './agent-view.ts';
import { knownAgents, sortedIds } from './known-agents.ts';
import { badRequest, pageSize, quoted } from './requests.ts';
import type { Sampler } from './sampler.ts';
import { now } from './shown-tunnel.ts';

const MOST_AGENTS = 1_000;
const MOST_TOKEN_CHARACTERS = 4_096;

/** A page of agents in the order of their IDs. Its token is the last ID. @throws Fault `admin-bad-request` */
export function listAgents(
  server: ProxyServer,
  sampler: Sampler,
  request: AdminMethods['ListAgents']['request'],
): { readonly agents: readonly Agent[]; readonly nextPageToken: string } {
  const size = pageSize(request.pageSize ?? 0, MOST_AGENTS, MOST_AGENTS);
  const after = readToken(request.pageToken ?? '');
  const ratesFor = new Set(request.ratesFor);
  const ids = sortedIds([...knownAgents(server)].filter((agentId) => agentId > after));
  const at = now();
  const page = ids.slice(0, size);
  const agents = page.flatMap((agentId) => {
    const view = viewOfAgent(server, agentId, at);
    if (view === undefined) return [];
    return ratesFor.has(agentId) ? { ...view.agent, rates: sampler.rates(agentId) } : view.agent;
  });
  const last = page.at(-1);
  const nextPageToken =
    ids.length > size && last !== undefined ? Buffer.from(last).toString('base64url') : '';
  return { agents, nextPageToken };
}

function readToken(token: string): string {
  const after = token.length > MOST_TOKEN_CHARACTERS ? '' : Buffer.from(token, 'base64url').toString();
  if (token === '' || Buffer.from(after).toString('base64url') === token) return after;
  throw badRequest(
    `the page token ${quoted(token)} is none of ours`,
    'take next_page_token of the page before',
  );
}
