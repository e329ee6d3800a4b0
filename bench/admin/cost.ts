import { setTimeout as delay } from 'node:timers/promises';
import type { AdminClient } from '../../src/proxy/admin/client/admin-client.ts';
import { openAdminClient } from '../../src/proxy/admin/client/open-admin-client.ts';
import { cpuMs } from '../process-usage.ts';

/** What looking at its agents costs a server: CPU in % of a core, and one ListAgents. */
export interface AdminCost {
  readonly calmPercent: number;
  readonly changingPercent: number;
  readonly watchedPercent: number;
  readonly listCpuMs: number;
  /** Until the client has them all. */
  readonly listMs: number;
}

const WATCHERS = 10;
const MAX_LISTS = 50;

/**
 * Measures a server that is connected to `agents` agents, each state for `ms`.
 * @param change makes so many agents a second say something new
 * @throws Error when agents are missing in a list, or watchers see nothing
 */
export async function adminCost(
  socket: string,
  serverPid: number,
  agents: number,
  change: (perSecond: number) => void | Promise<void>,
  changesPerSecond: number,
  ms: number,
): Promise<AdminCost> {
  const client = openAdminClient(`unix://${socket}`);
  const cpuPercent = async (): Promise<number> => {
    const [beforeMs, beganMs] = [cpuMs(serverPid), performance.now()];
    await delay(ms);
    return ((cpuMs(serverPid) - beforeMs) / (performance.now() - beganMs)) * 100;
  };
  try {
    const calmPercent = await cpuPercent();
    await change(changesPerSecond);
    const changingPercent = await cpuPercent();
    const watchers = watch(client);
    const watchedPercent = await cpuPercent();
    await watchers.stop();
    if (watchers.messages() < WATCHERS) throw new Error('the watchers saw nothing');
    await change(0);
    return { calmPercent, changingPercent, watchedPercent, ...(await lists(client, serverPid, agents, ms)) };
  } finally {
    client.close();
  }
}

/** Watchers that read what they are sent. */
function watch(client: AdminClient): { messages(): number; stop(): Promise<void> } {
  const stop = new AbortController();
  let messages = 0;
  const read = async (): Promise<void> => {
    for await (const _ of client.watchAgents({ intervalSeconds: 1, ratesFor: [] }, stop.signal)) messages++;
  };
  const readers = Promise.all(Array.from({ length: WATCHERS }, read));
  // Told when they are stopped.
  readers.catch(() => {});
  return {
    messages: () => messages,
    stop: async () => {
      stop.abort();
      await readers;
    },
  };
}

/** As many as fit into `ms`, at least one. */
async function lists(
  client: AdminClient,
  pid: number,
  agents: number,
  ms: number,
): Promise<Pick<AdminCost, 'listCpuMs' | 'listMs'>> {
  const signal = new AbortController().signal;
  const [beforeMs, beganMs] = [cpuMs(pid), performance.now()];
  let done = 0;
  while (done === 0 || (done < MAX_LISTS && performance.now() - beganMs < ms)) {
    const found = (await client.agents({}, signal)).length;
    if (found !== agents) throw new Error(`${found} agents are listed instead of ${agents}`);
    done++;
  }
  return { listCpuMs: (cpuMs(pid) - beforeMs) / done, listMs: (performance.now() - beganMs) / done };
}
