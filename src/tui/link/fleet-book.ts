import type { Agent } from '../../proxy/admin/model/agent.ts';
import { type Asked, askedOf, mergeAgent } from '../../proxy/admin/model/merge-agents.ts';
import type { ServerState } from '../state/top-state.ts';

interface Entry {
  readonly same: readonly Agent[];
  readonly merged: Agent;
}

/** Merges what several servers say of their agents; what did not change is not merged again. */
export class FleetBook {
  #entries = new Map<string, Entry>();
  #asked = '';

  /** All agents by ID. Of servers that are lost only while all of them are: then the last picture stays. */
  merge(servers: readonly ServerState[]): ReadonlyMap<string, Agent> {
    const [only] = servers;
    // What agents of ours say of themselves to the one server that was asked needs no merging.
    if (only !== undefined && servers.length === 1 && !some(only.agents, ({ kind }) => kind === 'go'))
      return only.agents;
    const allLost = servers.every(({ link }) => link.kind !== 'live');
    const views = servers.map(({ link, info, agents }) => ({
      ...(info === undefined ? {} : { serverId: info.id, serverCount: info.serverCount }),
      ...(allLost || link.kind === 'live' ? { agents: [...agents.values()] } : {}),
    }));
    const asked = askedOf(views);
    const askedKey = JSON.stringify([
      [...asked.answered].sort(),
      asked.answers,
      asked.lost,
      asked.serverCount,
    ]);
    const before = askedKey === this.#asked ? this.#entries : new Map<string, Entry>();
    this.#asked = askedKey;
    const byId = new Map<string, Agent[]>();
    for (const { agents = [] } of views) {
      for (const agent of agents) {
        const same = byId.get(agent.id);
        if (same === undefined) byId.set(agent.id, [agent]);
        else same.push(agent);
      }
    }
    this.#entries = new Map();
    const merged = new Map<string, Agent>();
    for (const [id, same] of byId) {
      const known = before.get(id);
      const entry =
        known !== undefined && sameViews(known.same, same) ? known : { same, merged: mergeOne(same, asked) };
      this.#entries.set(id, entry);
      merged.set(id, entry.merged);
    }
    return merged;
  }
}

function mergeOne(same: readonly Agent[], asked: Asked): Agent {
  const [only] = same;
  return only !== undefined && same.length === 1 && only.kind === 'ts' && asked.lost === 0
    ? only
    : mergeAgent(same, asked);
}

function sameViews(a: readonly Agent[], b: readonly Agent[]): boolean {
  return a.length === b.length && a.every((one, i) => one === b[i]);
}

function some(agents: ReadonlyMap<string, Agent>, test: (agent: Agent) => boolean): boolean {
  for (const agent of agents.values()) if (test(agent)) return true;
  return false;
}
