import type { ProxyServer } from '../../server/proxy-server.ts';
import { Encoded, encodeMessage } from '../messages/encode-message.ts';
import type { AdminMethods } from '../messages/message-types.ts';
import { messageTable } from '../messages/table.ts';
import { viewOfAgent } from './agent-view.ts';
import { knownAgents, sortedIds } from './known-agents.ts';
import { readToken, tokenOf } from './page-token.ts';
import { badRequest, pageSize } from './requests.ts';
import type { Sampler } from './sampler.ts';
import { now } from './shown-tunnel.ts';

const AGENT = messageTable('Agent');
const MOST_AGENTS = 1_000;
/** Of a page: what agents say of themselves can be long. */
const MOST_BYTES = 1024 * 1024;

/** A page of agents in the order of their IDs, of as many as fit. Its token is the last ID. @throws Fault `admin-bad-request` */
export function listAgents(
  server: ProxyServer,
  sampler: Sampler,
  request: AdminMethods['ListAgents']['request'],
): { readonly agents: readonly Encoded[]; readonly nextPageToken: string } {
  const size = pageSize(request.pageSize ?? 0, MOST_AGENTS, MOST_AGENTS);
  const after = readToken(request.pageToken ?? '');
  const ratesFor = new Set(request.ratesFor);
  if (ratesFor.size > MOST_AGENTS) {
    throw badRequest(`rates_for names ${ratesFor.size} agents`, `name at most ${MOST_AGENTS}`);
  }
  if (ratesFor.size > 0) sampler.ask();
  const ids = sortedIds([...knownAgents(server)].filter((agentId) => agentId > after));
  const at = now();
  const agents: Encoded[] = [];
  let last = '';
  let bytes = 0;
  for (const agentId of ids) {
    const view = viewOfAgent(server, agentId, at);
    if (view === undefined) continue;
    const { agent } = view;
    const shown = ratesFor.has(agentId) ? { ...agent, rates: sampler.rates(agentId) } : agent;
    const encoded = new Encoded(encodeMessage(AGENT, shown));
    bytes += encoded.bytes.length;
    if (agents.length === size || (bytes > MOST_BYTES && agents.length > 0)) {
      return { agents, nextPageToken: tokenOf(last) };
    }
    agents.push(encoded);
    last = agentId;
  }
  return { agents, nextPageToken: '' };
}
