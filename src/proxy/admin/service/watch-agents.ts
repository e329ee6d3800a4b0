import { systemClock } from '../../ops/clock.ts';
import type { Encoded } from '../messages/encode-message.ts';
import type { AdminMethods } from '../messages/message-types.ts';
import type { ServerInfo } from '../model/server-info.ts';
import type { AgentsBoard } from './agents-board.ts';
import { sortedIds } from './known-agents.ts';
import { badRequest } from './requests.ts';
import type { Sampler } from './sampler.ts';

type Request = AdminMethods['WatchAgents']['request'];
type Change = AdminMethods['WatchAgents']['response'];

/** In one message: most agents take some 400 bytes, but what they say of themselves can be long. */
const AGENTS_PER_MESSAGE = 500;
const BYTES_PER_MESSAGE = 1024 * 1024;
const MOST_NAMED = 500;

/** What the watches of one server share. */
export interface WatchParts {
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
  const unwatch = parts.sampler.watch();
  try {
    const ids = sortedIds([...board.ids()].filter((agentId) => only === undefined || only.has(agentId)));
    let sample = parts.sampler.samples;
    let from = 0;
    do {
      // What is sent is up to date now: only what changes from here on is sent again.
      const page = nextPage(parts, ids, from, changed, ratesFor);
      from = page.next;
      const snapshotComplete = from >= ids.length;
      yield {
        snapshot: true,
        snapshotComplete,
        epoch,
        revision: board.revision,
        changed: page.agents,
        removed: [],
        ...(snapshotComplete ? { server: parts.info() } : {}),
      };
    } while (from < ids.length);
    while (!signal.aborted) {
      await systemClock.wait(intervalMs, signal);
      if (signal.aborted) return;
      board.refresh();
      const { samples } = parts.sampler;
      yield* delta(parts, changed, ratesFor, samples === sample ? [] : ratesFor);
      sample = samples;
    }
  } finally {
    unwatch();
    leave();
  }
}

/** @param sampled agents whose rates are new */
function* delta(
  parts: WatchParts,
  changed: Set<string>,
  ratesFor: ReadonlySet<string>,
  sampled: Iterable<string>,
): Generator<Change> {
  const { board, epoch } = parts;
  const ids = [
    ...new Set([...changed, ...[...sampled].filter((agentId) => board.encoded(agentId) !== undefined)]),
  ];
  changed.clear();
  let from = 0;
  do {
    const { agents, removed, next } = nextPage(parts, ids, from, changed, ratesFor);
    from = next;
    const base = { snapshot: false, snapshotComplete: false, epoch, revision: board.revision };
    yield { ...base, changed: agents, removed, ...(from < ids.length ? {} : { server: parts.info() }) };
  } while (from < ids.length);
}

/** The agents from `from` on that fit into one message, one at least; they are no changes any more. */
function nextPage(
  { board, sampler }: WatchParts,
  ids: readonly string[],
  from: number,
  changed: Set<string>,
  ratesFor: ReadonlySet<string>,
): { readonly agents: Encoded[]; readonly removed: string[]; readonly next: number } {
  const agents: Encoded[] = [];
  const removed: string[] = [];
  let next = from;
  for (let bytes = 0; next < ids.length && next - from < AGENTS_PER_MESSAGE; next++) {
    const agentId = ids[next] as string;
    const agent = ratesFor.has(agentId) ? board.rated(agentId, sampler) : board.encoded(agentId);
    bytes += agent?.bytes.length ?? agentId.length;
    if (bytes > BYTES_PER_MESSAGE && next > from) break;
    changed.delete(agentId);
    if (agent === undefined) removed.push(agentId);
    else agents.push(agent);
  }
  return { agents, removed, next };
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
