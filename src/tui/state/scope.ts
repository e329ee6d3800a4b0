import type { Agent } from '../../proxy/admin/model/agent.ts';
import { arrange } from './agent-table.ts';
import type { TopState } from './top-state.ts';

const NONE: ReadonlyMap<string, Agent> = new Map();

/** Takes the agents of the servers in scope. */
export function inScope(state: TopState): TopState {
  const { scope, servers, everything } = state;
  const agents = scope === 'all' ? everything : (servers[scope]?.agents ?? NONE);
  return arrange({ ...state, agents });
}
