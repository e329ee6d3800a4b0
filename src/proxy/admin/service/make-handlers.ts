import type { ProxyServer } from '../../server/proxy-server.ts';
import type { AgentDetails } from '../model/agent.ts';
import type { ServerInfo } from '../model/server-info.ts';
import type { AdminHandlers } from './admin-handlers.ts';
import { viewOfAgent } from './agent-view.ts';
import { AgentsBoard } from './agents-board.ts';
import type { Audit } from './audit.ts';
import type { Caller } from './caller.ts';
import { changeHandlers } from './change-handlers.ts';
import { listAgents } from './list-agents.ts';
import { listOrders } from './list-orders.ts';
import { endedTunnels, listTunnels } from './list-tunnels.ts';
import { notFound, quoted } from './requests.ts';
import type { Sampler } from './sampler.ts';
import { select } from './select.ts';
import { type ServerInfoParts, serverInfo, shownCaller } from './server-info.ts';
import { now, shownTunnel } from './shown-tunnel.ts';
import { watchAgents } from './watch-agents.ts';
import { shownEvent, watchEvents } from './watch-events.ts';

const MOST_TUNNELS = 100;
const MOST_ENDED = 10;
const MOST_EVENTS = 20;
/** How old what watchers are told of the server may be. */
const INFO_MS = 20;

/** What the handlers of one server share. */
export interface HandlerParts extends ServerInfoParts {
  readonly audit: Audit;
}

/** The admin service over a running server. */
export function makeHandlers(parts: HandlerParts): {
  readonly handlers: AdminHandlers;
  readonly board: AgentsBoard;
} {
  const { server, sampler, epoch } = parts;
  const board = new AgentsBoard(server);
  const info = sharedInfo(parts, board);
  const origin = { serverId: server.options.serverId, epoch };
  const handlers: AdminHandlers = {
    GetServer: (_, { caller }) => {
      sampler.ask();
      return serverInfo(parts, caller);
    },
    ListAgents: (request) => ({ ...listAgents(server, sampler, request), revision: board.revision, epoch }),
    WatchAgents: (request, { caller, signal }) => {
      return watchAgents({ board, sampler, epoch, info: () => info(caller) }, request, signal);
    },
    GetAgent: ({ id }) => agentDetails(server, sampler, id, origin),
    ListOrders: (request) => listOrders(server.drain.orders(), request),
    Select: (request) => select(server, request),
    ListTunnels: (request) => {
      sampler.ask();
      return listTunnels(server, request);
    },
    WatchEvents: (request, { signal }) => watchEvents(server.events, request, origin, signal),
    ...changeHandlers(server, parts.audit),
  };
  return { handlers, board };
}

/** The server for watchers, which ask for it all the time: made once for all that do within a moment. */
function sharedInfo(parts: HandlerParts, board: AgentsBoard): (caller: Caller) => ServerInfo {
  let last: ServerInfo | undefined;
  let madeAtMs = 0;
  return (caller) => {
    const nowMs = performance.now();
    if (last === undefined || nowMs - madeAtMs >= INFO_MS) {
      madeAtMs = nowMs;
      last = serverInfo(parts, caller, board.countByState());
    }
    return { ...last, caller: shownCaller(caller) };
  };
}

function agentDetails(
  server: ProxyServer,
  sampler: Sampler,
  id: string,
  origin: { readonly serverId: string; readonly epoch: string },
): AgentDetails {
  sampler.ask();
  const at = now();
  const view = viewOfAgent(server, id, at);
  if (view === undefined) {
    throw notFound(
      `no agent ${quoted(id)} is connected, or was within the last hour`,
      'see konnectivity-ts agents',
    );
  }
  const tunnels = server.backends.registry
    .streamsOf(id)
    .flatMap((backend) => [...backend.tunnels.values()].map((tunnel) => ({ tunnel, backend })))
    .sort((a, b) => a.tunnel.startedAtMs - b.tunnel.startedAtMs)
    .slice(0, MOST_TUNNELS)
    .map(({ tunnel, backend }) => shownTunnel(tunnel, backend, server.options.serverId, at));
  const events: AgentDetails['events'][number][] = [];
  for (const event of server.events.newestFirst()) {
    if (event.agent === id) events.push(shownEvent(event, origin));
    if (events.length === MOST_EVENTS) break;
  }
  return {
    agent: { ...view.agent, rates: sampler.rates(id) },
    tunnels,
    ended: endedTunnels(server, { agent: id }, at, MOST_ENDED),
    events,
  };
}
