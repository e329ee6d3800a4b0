import { Fault } from '../../ops/fault.ts';
import { checkActor, type DrainOutcome, type UndrainOutcome } from '../../server/drain/drain-command.ts';
import type { ProxyServer } from '../../server/proxy-server.ts';
import type { Agent, DrainResult, UndrainResult } from '../model/agent.ts';
import type { DrainRequest } from '../model/order.ts';
import type { Tunnel } from '../model/tunnel.ts';
import type { AdminHandlers, CallContext } from './admin-handlers.ts';
import { viewOfAgent } from './agent-view.ts';
import type { Audit } from './audit.ts';
import { findTunnel } from './find-tunnel.ts';
import { badRequest, quoted } from './requests.ts';
import { shownOrder } from './shown-order.ts';
import { now, shownTunnel } from './shown-tunnel.ts';

const MOST_AGENTS = 1_000;
const MOST_REASON_CHARACTERS = 1_024;

interface Change {
  readonly actor?: string;
  readonly validateOnly?: boolean;
}

/** The methods that change something: each one checks the role, acts in one synchronous step, and is audited. */
export function changeHandlers(
  server: ProxyServer,
  audit: Audit,
): Pick<AdminHandlers, 'Drain' | 'Undrain' | 'CloseTunnel'> {
  return {
    Drain: (request, context) =>
      durably(
        server,
        audited(audit, 'Drain', request, context, (actor) => {
          checkCount(request.agentIds);
          checkCount(request.assumeDrained ?? []);
          const outcomes = server.drain.drain({ ...drainCommand(request), ...actor });
          return { answer: outcomes.map((one) => drainResult(server, one)), changes: outcomes };
        }),
      ),
    Undrain: (request, context) =>
      durably(
        server,
        audited(audit, 'Undrain', request, context, (actor) => {
          checkCount(request.agentIds);
          const { agentIds, validateOnly = false } = request;
          if (agentIds.length === 0) throw badRequest('no agent is named', 'name one at least');
          const outcomes = server.drain.undrain({ agentIds, validateOnly, ...actor });
          return { answer: outcomes.map((one) => undrainResult(server, one)), changes: outcomes };
        }),
      ),
    CloseTunnel: (request, context) =>
      audited(audit, 'CloseTunnel', request, context, (actor) => ({
        answer: { tunnel: closeTunnel(server, request, actor.actor) },
        changes: [{ change: 'closed' }],
      })),
  };
}

/** Says that it is done only when a restart of this server would not undo it, or else that it might. */
async function durably<Result extends { readonly notes: readonly string[] }>(
  server: ProxyServer,
  results: readonly Result[],
): Promise<{ results: Result[] }> {
  const notes = await server.drain.durable();
  return { results: results.map((one) => ({ ...one, notes: [...one.notes, ...notes] })) };
}

interface Actor {
  readonly actor: string;
  readonly actorClaimed: boolean;
}

interface Done<Answer> {
  readonly answer: Answer;
  readonly changes: readonly { readonly change: string }[];
}

function audited<Answer>(
  audit: Audit,
  method: string,
  request: Change,
  { caller }: CallContext,
  act: (actor: Actor) => Done<Answer>,
): Answer {
  // A certificate says who it is; on the socket the client does, and nobody can check it.
  const actor = {
    actor: caller.claimed ? request.actor || caller.name : caller.name,
    actorClaimed: caller.claimed,
  };
  const validateOnly = request.validateOnly === true;
  const told = { method, ...actor, caller, request };
  try {
    if (caller.role !== 'operator' && !validateOnly) {
      throw new Fault(
        'admin-denied',
        `${quoted(caller.name)} has the role viewer, which may look and not change`,
        'use a client certificate whose organisation (O) is konnectivity-ts:operators',
      );
    }
    checkActor(actor.actor);
    const { answer, changes } = act(actor);
    const changed = changes.some(({ change }) => change !== 'unchanged');
    const result = validateOnly ? 'validated' : changed ? 'done' : 'unchanged';
    audit.add({ ...told, result, message: '' });
    return answer;
  } catch (error) {
    const refusal = error instanceof Fault;
    audit.add({
      ...told,
      result: refusal ? error.code : 'failed',
      message: refusal ? error.line : String(error),
    });
    throw error;
  }
}

/** What was not given arrives as a zero value. */
function drainCommand(request: DrainRequest) {
  const {
    agentIds,
    reason = '',
    deadlineSeconds,
    atDeadline,
    until,
    force,
    validateOnly,
    orderIds,
  } = request;
  return {
    agentIds,
    ...(reason === '' ? {} : { reason }),
    ...(deadlineSeconds === undefined ? {} : { deadlineMs: deadlineSeconds * 1000 }),
    atDeadline: word('at_deadline', atDeadline, ['keep', 'close']),
    until: word('until', until, ['undrain', 'restart']),
    force: force === true,
    validateOnly: validateOnly === true,
    orderIds: new Map(Object.entries(orderIds ?? {})),
    assumeDrained: request.assumeDrained ?? [],
  };
}

function word<Word extends string>(
  field: string,
  given: string | undefined,
  words: readonly Word[],
): Word | undefined {
  if (given === undefined || given === '') return undefined;
  const known = words.find((one) => one === given);
  if (known !== undefined) return known;
  throw badRequest(`${field} ${quoted(given)} is no such word`, `give ${words.join(' or ')}`);
}

function checkCount(agentIds: readonly string[]): void {
  if (agentIds.length <= MOST_AGENTS) return;
  throw badRequest(`${agentIds.length} agents are named`, `name at most ${MOST_AGENTS} in one request`);
}

function drainResult(server: ProxyServer, outcome: DrainOutcome): DrainResult {
  const { previous, order, ...rest } = outcome;
  return {
    ...rest,
    order: shownOrder(order),
    ...(previous === undefined ? {} : { previous: shownOrder(previous) }),
    ...agentOf(server, outcome.agentId),
  };
}

function undrainResult(server: ProxyServer, outcome: UndrainOutcome): UndrainResult {
  const { order, ...rest } = outcome;
  return {
    ...rest,
    ...(order === undefined ? {} : { order: shownOrder(order) }),
    ...agentOf(server, outcome.agentId),
  };
}

/** An agent that was only known by its order is unknown once that ended: it is told as gone. */
function agentOf(server: ProxyServer, agentId: string): { readonly agent: Agent } {
  const view = viewOfAgent(server, agentId, now());
  return { agent: view?.agent ?? goneAgent(agentId) };
}

function goneAgent(id: string): Agent {
  return {
    id,
    state: 'gone',
    conditions: [],
    kind: 'ts',
    identifiers: [],
    streams: [],
    serverIds: [],
    serverCount: 0,
    tunnels: 0,
    pendingDials: 0,
    tunnelsHere: 0,
    pendingDialsHere: 0,
    safeToStop: false,
    lastFor: [],
    reconnects: 0,
    bufferedBytes: 0,
    pausedTunnels: 0,
    replacements: 0,
  };
}

function closeTunnel(
  server: ProxyServer,
  request: { readonly id: string; readonly reason?: string; readonly validateOnly?: boolean },
  actor: string,
): Tunnel {
  const { id, reason = '', validateOnly } = request;
  if (reason.length > MOST_REASON_CHARACTERS) {
    throw badRequest(
      `the reason is ${reason.length} characters long`,
      `give at most ${MOST_REASON_CHARACTERS}`,
    );
  }
  const { tunnel, backend } = findTunnel(server, id);
  const shown = shownTunnel(tunnel, backend, server.options.serverId, now());
  if (validateOnly === true) return shown;
  tunnel.close('closed-by-operator');
  const why = reason === '' ? '' : `: ${reason}`;
  server.events.add('tunnel-closed-by-operator', {
    agent: backend.agentId,
    actor,
    message: `tunnel ${shown.id} to ${shown.destination} was closed by an operator${why}`,
  });
  return { ...shown, closeReason: 'closed-by-operator', endedAt: new Date() };
}
