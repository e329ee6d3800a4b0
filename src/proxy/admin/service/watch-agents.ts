import type { ProxyServer } from '../../server/proxy-server.ts';
import { Encoded, encodeMessage } from '../messages/encode-message.ts';
import type { AdminMethods } from '../messages/message-types.ts';
import { messageTable } from '../messages/table.ts';
import type { Agent } from '../model/agent.ts';
import type { ServerInfo } from '../model/server-info.ts';
import { viewOfAgent } from './agent-view.ts';
import type { AgentsBoard } from './agents-board.ts';
import { sortedIds } from './known-agents.ts';
import { badRequest } from './requests.ts';
import type { Sampler } from './sampler.ts';
import { now } from './shown-tunnel.ts';

type Request = AdminMethods['WatchAgents']['request'];
type Change = AdminMethods['WatchAgents']['response'];

/** Agents in one message: some 200 KiB. */
const AGENTS_PER_MESSAGE = 500;
const MOST_NAMED = 500;
const AGENT = messageTable('Agent');

/** What the watches of one server share. */
export interface WatchParts {
  readonly server: ProxyServer;
  readonly board: AgentsBoard;
  readonly sampler: Sampler;
  readonly epoch: string;
  info(): ServerInfo;
}

/**
 * A snapshot, then at each interval what changed since the last message that was taken. A client that does not read
 * is asked for nothing, and costs the IDs that changed meanwhile.
 * @throws Fault `admin-bad-request`
 */
export async function* watchAgents(
  parts: WatchParts,
  request: Request,
  signal: AbortSignal,
): AsyncGenerator<Change> {
  const { board, epoch } = parts;
  const intervalMs = checkInterval(request.intervalSeconds);
  const ratesFor = checkNamed('rates_for', request.ratesFor);
  const onlyNamed = checkNamed('only', request.only ?? []);
  const only = onlyNamed.size === 0 ? undefined : onlyNamed;
  const changed = new Set<string>();
  const leave = board.join({
    changed: (agentId) => {
      if (only === undefined || only.has(agentId)) changed.add(agentId);
    },
  });
  try {
    const ids = sortedIds([...board.ids()].filter((agentId) => only === undefined || only.has(agentId)));
    let from = 0;
    do {
      const page = ids.slice(from, from + AGENTS_PER_MESSAGE);
      from += page.length;
      const snapshotComplete = from >= ids.length;
      yield {
        snapshot: true,
        snapshotComplete,
        epoch,
        revision: board.revision,
        // What was sent is up to date now: only what changes from here on is sent again.
        changed: page.flatMap((agentId) => {
          changed.delete(agentId);
          return encodedAgent(parts, agentId, ratesFor) ?? [];
        }),
        removed: [],
        ...(snapshotComplete ? { server: parts.info() } : {}),
      };
    } while (from < ids.length);
    while (!signal.aborted) {
      await pause(intervalMs, signal);
      if (signal.aborted) return;
      board.refresh();
      yield* delta(parts, changed, ratesFor);
    }
  } finally {
    leave();
  }
}

function* delta(parts: WatchParts, changed: Set<string>, ratesFor: ReadonlySet<string>): Generator<Change> {
  const { board, epoch } = parts;
  const ids = [
    ...new Set([...changed, ...[...ratesFor].filter((agentId) => board.encoded(agentId) !== undefined)]),
  ];
  changed.clear();
  let from = 0;
  do {
    const agents: Encoded[] = [];
    const removed: string[] = [];
    for (const agentId of ids.slice(from, from + AGENTS_PER_MESSAGE)) {
      changed.delete(agentId);
      const agent = encodedAgent(parts, agentId, ratesFor);
      if (agent === undefined) removed.push(agentId);
      else agents.push(agent);
    }
    from += AGENTS_PER_MESSAGE;
    const base = { snapshot: false, snapshotComplete: false, epoch, revision: board.revision };
    yield { ...base, changed: agents, removed, ...(from < ids.length ? {} : { server: parts.info() }) };
  } while (from < ids.length);
}

/** With rates where they are wanted; those are fresh each time, and so is the rest then. */
function encodedAgent(
  { server, board, sampler }: WatchParts,
  agentId: string,
  ratesFor: ReadonlySet<string>,
): Encoded | undefined {
  if (!ratesFor.has(agentId)) return board.encoded(agentId);
  const view = viewOfAgent(server, agentId, now());
  if (view === undefined) return undefined;
  const agent: Agent = { ...view.agent, rates: sampler.rates(agentId) };
  return new Encoded(encodeMessage(AGENT, agent));
}

function checkInterval(seconds: number): number {
  if (seconds === 0) return 1_000;
  if (seconds >= 0.1 && seconds <= 60) return seconds * 1000;
  throw badRequest(`an interval of ${seconds} s is out of bounds`, 'give 0.1 to 60');
}

function checkNamed(field: string, ids: readonly string[]): ReadonlySet<string> {
  if (ids.length <= MOST_NAMED) return new Set(ids);
  throw badRequest(`${field} names ${ids.length} agents`, `name at most ${MOST_NAMED}`);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}
