import { randomBytes } from 'node:crypto';
import type { AdminClient } from '../../proxy/admin/client/admin-client.ts';
import type { DrainResult, UndrainResult } from '../../proxy/admin/model/agent.ts';
import type { DrainRequest } from '../../proxy/admin/model/order.ts';
import type { Tunnel } from '../../proxy/admin/model/tunnel.ts';
import type { DrainPreview } from '../state/dialog.ts';
import type { Applied } from '../state/event.ts';
import { reasonText } from './reason-text.ts';

/** A server that is asked to change something, by the ID that it gave itself. */
export interface Asked {
  readonly id: string;
  readonly client: AdminClient;
}

/** What draining would do, on every server; the guard's refusal is part of the answer. @throws Fault */
export async function previewDrain(
  servers: readonly Asked[],
  drain: DrainRequest,
  signal: AbortSignal,
): Promise<DrainPreview> {
  let guard: string | undefined;
  const asked = oldestTunnel(servers, drain.agentIds, signal);
  const results = await all(servers, async ({ client }) => {
    try {
      return await client.drain({ ...drain, force: false, validateOnly: true }, signal);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // Forced, the servers still say who takes over, or refuse for another reason.
      const forced = await client.drain({ ...drain, force: true, validateOnly: true }, signal);
      guard ??= reasonText(error);
      return forced;
    }
  });
  const oldest = await asked;
  return { results: byAgent(results.flat()), guard, ...(oldest === undefined ? {} : { oldest }) };
}

/** The tunnel of those agents that is open for the longest time. Never fails: the question can be answered without. */
async function oldestTunnel(
  servers: readonly Asked[],
  agentIds: readonly string[],
  signal: AbortSignal,
): Promise<Tunnel | undefined> {
  const asked = servers.flatMap(({ client }) =>
    agentIds.slice(0, MOST_ASKED).map((agent) => client.tunnels({ agent, sort: 'age', pageSize: 1 }, signal)),
  );
  const pages = await Promise.allSettled(asked);
  const tunnels = pages.flatMap((page) => (page.status === 'fulfilled' ? page.value.tunnels : []));
  return tunnels.sort((a, b) => a.since.getTime() - b.since.getTime())[0];
}

/** Of many agents that are drained together, the tunnels of the first ones are looked at. */
const MOST_ASKED = 5;

/**
 * Validates on every server, then changes all of them; what one refuses or cannot do after that is told with the rest.
 * @throws Fault when a server refuses at first: nothing is changed then
 */
export async function applyDrain(
  servers: readonly Asked[],
  drain: DrainRequest,
  signal: AbortSignal,
): Promise<Applied<DrainResult>> {
  await all(servers, ({ client }) => client.drain({ ...drain, validateOnly: true }, signal));
  // The same order for all of them.
  const orderIds = Object.fromEntries(drain.agentIds.map((id) => [id, newOrderId()]));
  const place = ({ client }: Asked): Promise<readonly DrainResult[]> =>
    client.drain({ ...drain, orderIds }, signal);
  // Everybody asks the same server first: of two who drain the last two ready agents at once, one is refused there.
  const ordered = [...servers].sort((a, b) => (a.id < b.id ? -1 : 1));
  const first = await tried(ordered.slice(0, 1), place);
  const others = await tried(first.refused ? [] : ordered.slice(1), place);
  const { results, failures } = atLeastOne({
    results: [...first.results, ...others.results],
    failures: [...first.failures, ...others.failures],
  });
  return { results: byAgent(results.flat()), failures };
}

/** What undraining would do. @throws Fault */
export async function previewUndrain(
  servers: readonly Asked[],
  ids: readonly string[],
  signal: AbortSignal,
): Promise<UndrainResult[]> {
  const request = { agentIds: ids, validateOnly: true };
  return ended((await all(servers, ({ client }) => client.undrain(request, signal))).flat());
}

/** Validates on every server, then ends the orders on all of them. @throws Fault when a server refuses at first */
export async function applyUndrain(
  servers: readonly Asked[],
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Applied<UndrainResult>> {
  await all(servers, ({ client }) => client.undrain({ agentIds: ids, validateOnly: true }, signal));
  const { results, failures } = atLeastOne(
    await tried(servers, ({ client }) => client.undrain({ agentIds: ids }, signal)),
  );
  return { results: ended(results.flat()), failures };
}

/** Closes a tunnel at the server that has it. @throws Fault */
export async function closeTunnel(
  servers: readonly Asked[],
  tunnel: { readonly id: string; readonly server: string },
  signal: AbortSignal,
): Promise<Tunnel> {
  const server =
    servers.find(({ id }) => id === tunnel.server) ?? (servers.length === 1 ? servers[0] : undefined);
  if (server === undefined) throw new Error(`server ${tunnel.server} does not answer`);
  return await server.client.closeTunnel({ id: tunnel.id, reason: 'closed in top' }, signal);
}

async function all<T>(servers: readonly Asked[], ask: (server: Asked) => Promise<T>): Promise<T[]> {
  if (servers.length === 0) throw new Error('no server answers: nothing was changed');
  const settled = await Promise.allSettled(servers.map(ask));
  return settled.map((one, i) => {
    if (one.status === 'fulfilled') return one.value;
    if (servers.length === 1) throw one.reason;
    throw new Error(`nothing was changed: ${servers[i]?.id}: ${reasonText(one.reason)}`, {
      cause: one.reason,
    });
  });
}

interface Tried<T> {
  readonly results: readonly T[];
  readonly failures: readonly { readonly server: string; readonly reason: string }[];
}

async function tried<T>(
  servers: readonly Asked[],
  ask: (server: Asked) => Promise<T>,
): Promise<Tried<T> & { readonly refused: boolean }> {
  const settled = await Promise.allSettled(servers.map(ask));
  const results = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failures = settled.flatMap((one, i) =>
    one.status === 'rejected' ? [{ server: servers[i]?.id ?? '', reason: reasonText(one.reason) }] : [],
  );
  const refused = settled.some((one) => one.status === 'rejected' && isRefusal(one.reason));
  return { results, failures, refused };
}

/** @throws with the first reason when nobody did it */
function atLeastOne<T>({ results, failures }: Tried<T>): Tried<T> {
  if (results.length === 0 && failures[0] !== undefined) throw new Error(failures[0].reason);
  return { results, failures };
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === 'admin-refused';
}

/** One result for each agent: the one that says most. */
function byAgent(results: readonly DrainResult[]): DrainResult[] {
  const byId = new Map<string, DrainResult>();
  for (const result of results) {
    const known = byId.get(result.agentId);
    if (known === undefined) byId.set(result.agentId, result);
    else {
      const takeover = [...new Set([...known.takeover, ...result.takeover])];
      const notes = [...new Set([...known.notes, ...result.notes])];
      const change = known.change === 'unchanged' ? result.change : known.change;
      byId.set(result.agentId, { ...known, change, takeover, notes });
    }
  }
  return [...byId.values()];
}

function ended(results: readonly UndrainResult[]): UndrainResult[] {
  const byId = new Map<string, UndrainResult>();
  for (const result of results) {
    const known = byId.get(result.agentId);
    const notes = [...new Set([...(known?.notes ?? []), ...result.notes])];
    const better = known === undefined || known.change === 'unchanged' ? result : known;
    byId.set(result.agentId, { ...better, notes });
  }
  return [...byId.values()];
}

/** 40 random bits in base32, as servers make them. */
function newOrderId(): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
  return Array.from(randomBytes(8), (byte) => alphabet[byte & 31]).join('');
}
