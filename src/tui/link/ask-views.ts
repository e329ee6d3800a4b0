import type { AdminClient } from '../../proxy/admin/client/admin-client.ts';
import type { AgentDetails, Rates } from '../../proxy/admin/model/agent.ts';
import type { AdminEvent } from '../../proxy/admin/model/event.ts';
import { askedOf, mergeAgent } from '../../proxy/admin/model/merge-agents.ts';
import type { Selection } from '../../proxy/admin/model/selection.ts';
import type { Tunnel } from '../../proxy/admin/model/tunnel.ts';
import type { TunnelSort } from '../state/top-state.ts';
import { pause } from './pause.ts';

const TUNNELS_SHOWN = 500;
const DETAIL_TUNNELS = 100;
const DETAIL_ENDS = 10;
const DETAIL_EVENTS = 20;

/** What the servers that answered said. @throws the first refusal, when none answered */
async function fromEach<T>(
  clients: readonly AdminClient[],
  ask: (client: AdminClient) => Promise<T>,
): Promise<T[]> {
  const settled = await Promise.allSettled(clients.map(ask));
  const answers = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const refused = settled.find((one) => one.status === 'rejected');
  if (answers.length === 0 && refused !== undefined) throw refused.reason;
  return answers;
}

/** An agent in full, from all servers that know it. @throws Fault when none does */
export async function askDetails(
  clients: readonly AdminClient[],
  id: string,
  signal: AbortSignal,
): Promise<AgentDetails> {
  const answers = await fromEach(clients, (client) => client.agent(id, signal));
  const agents = answers.map(({ agent }) => agent);
  const [only] = agents;
  const agent = agents.length === 1 && only !== undefined ? only : mergeAgent(agents, askedOf([{ agents }]));
  return {
    agent,
    tunnels: byAge(answers.flatMap(({ tunnels }) => tunnels)).slice(0, DETAIL_TUNNELS),
    ended: answers
      .flatMap(({ ended }) => ended)
      .sort((a, b) => (b.endedAt?.getTime() ?? 0) - (a.endedAt?.getTime() ?? 0))
      .slice(0, DETAIL_ENDS),
    events: answers
      .flatMap(({ events }) => events)
      .sort((a, b) => b.time.getTime() - a.time.getTime())
      .slice(0, DETAIL_EVENTS),
  };
}

/** The tunnels of an agent or of all, from all servers, as many as a person reads. @throws Fault */
export async function askTunnels(
  clients: readonly AdminClient[],
  agent: string | undefined,
  sort: TunnelSort,
  signal: AbortSignal,
): Promise<{ tunnels: readonly Tunnel[]; total: number }> {
  const request = { ...(agent === undefined ? {} : { agent }), sort, pageSize: TUNNELS_SHOWN };
  const pages = await fromEach(clients, (client) => client.tunnels(request, signal));
  const tunnels = pages.flatMap((page) => page.tunnels);
  const sorted =
    sort === 'age'
      ? byAge(tunnels)
      : tunnels.sort((a, b) =>
          sort === 'rate' ? b.bytesPerSecond - a.bytesPerSecond : b.bufferedBytes - a.bufferedBytes,
        );
  return { tunnels: sorted.slice(0, TUNNELS_SHOWN), total: pages.reduce((sum, { total }) => sum + total, 0) };
}

/** A dry run on each server. @throws Fault */
export async function askSelection(
  clients: readonly AdminClient[],
  target: string,
  signal: AbortSignal,
): Promise<Selection[]> {
  return await fromEach(clients, (client) => client.select({ target }, signal));
}

/** Follows the events of one server, those of the last hour first, until the signal; again when the stream is lost. */
export async function followEvents(
  client: AdminClient,
  agent: string | undefined,
  onEvents: (events: readonly AdminEvent[]) => void,
  onLost: (error: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  let since = new Date(Date.now() - HOUR_MS);
  while (!signal.aborted) {
    try {
      let batch: AdminEvent[] = [];
      const request = { since, follow: true, ...(agent === undefined ? {} : { agent }) };
      for await (const event of client.events(request, signal)) {
        since = event.time;
        batch.push(event);
        if (batch.length > 1) continue;
        // What is there at once is handed on at once.
        setImmediate(() => {
          if (!signal.aborted) onEvents(batch);
          batch = [];
        });
      }
    } catch (error) {
      if (!signal.aborted) onLost(error);
    }
    await pause(RETRY_MS, signal);
  }
}

const HOUR_MS = 3_600_000;
const RETRY_MS = 1_000;

/** Watches the rates of some agents at one server until the signal; again when the stream is lost. */
export async function followRates(
  client: AdminClient,
  ids: readonly string[],
  intervalMs: number,
  onRates: (rates: ReadonlyMap<string, Rates>) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const request = { intervalSeconds: intervalMs / 1_000, ratesFor: ids, only: ids };
      for await (const { changed } of client.watchAgents(request, signal)) {
        const rates = new Map<string, Rates>();
        for (const agent of changed) if (agent.rates !== undefined) rates.set(agent.id, agent.rates);
        if (rates.size > 0) onRates(rates);
      }
    } catch {
      // The watch of all agents says that the server is lost.
    }
    await pause(RETRY_MS, signal);
  }
}

function byAge(tunnels: readonly Tunnel[]): Tunnel[] {
  return [...tunnels].sort((a, b) => a.since.getTime() - b.since.getTime());
}
