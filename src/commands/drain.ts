import { adminJson } from '../proxy/admin/model/admin-json.ts';
import type { Agent, DrainResult } from '../proxy/admin/model/agent.ts';
import { mergeAgents } from '../proxy/admin/model/merge-agents.ts';
import type { Order } from '../proxy/admin/model/order.ts';
import { Fault } from '../proxy/ops/fault.ts';
import type { Answer, FleetAnswer } from './ask-all.ts';
import { askFleet, lostOf, ofServer, viewsOf } from './ask-all.ts';
import { confirm } from './confirm.ts';
import { CutTunnels } from './drain/cut-tunnels.ts';
import { type DrainFlags, type DrainPlan, readPlan } from './drain/drain-flags.ts';
import { changeText, finishText } from './drain/drain-words.ts';
import { showDryRun } from './drain/dry-run.ts';
import {
  drainRequest,
  orderIds,
  type Place,
  type Placed,
  placeOrders,
  sendDrain,
} from './drain/place-orders.ts';
import { waitDrained } from './drain/wait-drained.ts';
import { ExitCode, exitOf, worstExit } from './exit-code.ts';
import { findAgents } from './find-agents.ts';
import { tellingInterruption } from './interrupted-change.ts';
import type { CommandIo } from './io.ts';
import { type Operator, type OperatorTools, operate } from './operator.ts';

/** `konnectivity-ts drain`: orders agents to drain, and waits until they are drained. @returns the exit code */
export function drain(
  names: readonly string[],
  flags: DrainFlags,
  io: CommandIo,
  tools?: OperatorTools,
): Promise<ExitCode> {
  const run = (operator: Operator): Promise<ExitCode> =>
    tellingInterruption(operator, (sending) => drainThem(operator, names, flags, sending));
  return operate(flags, io, run, tools, { endsWithReader: false });
}

async function drainThem(
  operator: Operator,
  names: readonly string[],
  flags: DrainFlags,
  sending: () => void,
): Promise<ExitCode> {
  const plan = readPlan(flags);
  const answers = await askFleet(operator);
  const missing = unreachable(operator, answers, plan.allowPartial || plan.monitor, () =>
    commandOf(operator, names, { ...flags, allowPartial: true }),
  );
  const merged = mergeAgents(viewsOf(answers));
  const { agents, guessed } = findAgents(names, merged, {
    byPrefix: operator.isTerminal && missing.length === 0,
    listing: operator.command('agents'),
  });
  if (plan.monitor) return await monitor(operator, plan, agents);
  checkDeadline(plan, agents);
  const ids = orderIds(agents);
  const places = placesOf(answers, agents);
  const request = drainRequest(plan, ids);
  const checked = await sendDrain(operator, places, { ...request, validateOnly: true });
  const refusal = refusalOf(operator, checked, names, flags, plan);
  if (refusal !== undefined) return refusal;
  const results = byAgent(checked);
  if (plan.dryRun)
    return await showDryRun(operator, plan, agents, results, commandOf(operator, names, flags));
  if (!(await confirmed(operator, plan, agents, guessed, results))) {
    operator.say('nothing was changed');
    return ExitCode.failed;
  }
  const cuts = plan.wait ? await CutTunnels.begin(operator, agents) : new Map<string, CutTunnels>();
  sending();
  const placed = await placeOrders(operator, places, request);
  const lateRefusal = placed.results.length > 0 ? undefined : refusalOf(operator, placed, names, flags, plan);
  if (lateRefusal !== undefined) return lateRefusal;
  tellPlaced(operator, plan, agents, placed);
  const failed = [...missing.map((fault) => ({ fault })), ...placed.failed];
  if (!plan.wait) return failed.length > 0 ? ExitCode.partial : ExitCode.done;
  const lost = answers.flatMap((answer) => (answer.fault === undefined ? [] : [answer.client]));
  const untold = [
    ...lost.map((client) => ({ client, ids: agents.map((agent) => agent.id) })),
    ...placed.failed.map(({ place }) => ({ client: place.client, ids: place.agentIds })),
  ];
  const orders = new Map(placed.results.map(({ result }) => [result.agentId, result.order]));
  const codes = await waitDrained(operator, plan, { agents, orders, cuts, untold });
  // A server that refused although it had agreed before is not made up for by waiting.
  const refused = placed.failed.some(({ fault }) => fault.code !== 'admin-unreachable');
  return worstExit(refused ? [...codes, ExitCode.partial] : codes);
}

/** The faults of servers that did not answer. @throws Fault when that is not allowed, with nothing changed */
function unreachable(
  operator: Operator,
  answers: readonly Answer<FleetAnswer>[],
  allowed: boolean,
  without: () => string,
): readonly Fault[] {
  const faults = lostOf(operator, answers);
  const [first] = faults;
  if (first === undefined) return [];
  const all = faults.length === answers.length;
  for (const fault of all || !allowed ? faults.slice(1) : faults)
    operator.say(`konnectivity-ts: ${fault.line}`);
  if (all) throw first;
  if (allowed) return faults;
  throw new Fault(
    first.code,
    `${first.message}; nothing was changed`,
    `try again, or go on without that server: ${without()}`,
    first,
  );
}

function placesOf(answers: readonly Answer<FleetAnswer>[], agents: readonly Agent[]): Place[] {
  return answers.flatMap((answer) => {
    if (answer.fault !== undefined) return [];
    const { client, server, agents: known } = answer.value;
    const ids = new Set(known.map((agent) => agent.id));
    const agentIds = agents.map((agent) => agent.id).filter((id) => ids.has(id));
    return agentIds.length === 0 ? [] : [{ client, serverId: server.id, agentIds }];
  });
}

/** Says why nothing was changed, if so. @returns the exit code */
function refusalOf(
  operator: Operator,
  checked: Placed,
  names: readonly string[],
  flags: DrainFlags,
  plan: DrainPlan,
): ExitCode | undefined {
  const faults = checked.failed.filter(
    ({ fault }) => !(plan.allowPartial && fault.code === 'admin-unreachable' && checked.results.length > 0),
  );
  if (faults.length === 0) return undefined;
  tellFailed(operator, faults);
  operator.say('nothing was changed');
  const codes = faults.map(({ fault }) => exitOf(fault));
  if (codes.includes(ExitCode.refused) && !plan.force) {
    operator.say(`drain all the same: ${commandOf(operator, names, { ...flags, force: true })}`);
  }
  if (faults.some(({ fault }) => fault.code === 'admin-unreachable') && checked.results.length > 0) {
    const command = commandOf(operator, names, { ...flags, allowPartial: true });
    operator.say(`go on without that server: ${command}`);
  }
  return worstExit(codes);
}

function tellFailed(operator: Operator, failed: Placed['failed']): void {
  for (const { place, fault } of failed) {
    operator.say(`konnectivity-ts: ${ofServer(operator, place.client, fault, place.serverId).line}`);
  }
}

function checkDeadline(plan: DrainPlan, agents: readonly Agent[]): void {
  if (plan.atDeadline === undefined || plan.deadlineMs !== undefined) return;
  if (agents.some((agent) => agent.order?.deadline !== undefined)) return;
  throw new Fault('flag-conflict', '--at-deadline is given, and there is no deadline', 'add --deadline 30m');
}

function byAgent(placed: Placed): ReadonlyMap<string, readonly DrainResult[]> {
  const results = new Map<string, DrainResult[]>();
  for (const { result } of placed.results) {
    const known = results.get(result.agentId);
    if (known === undefined) results.set(result.agentId, [result]);
    else known.push(result);
  }
  return results;
}

/** Asks where a slip would cost much: a guessed ID, several agents, tunnels that will be cut. */
async function confirmed(
  operator: Operator,
  plan: DrainPlan,
  agents: readonly Agent[],
  guessed: readonly string[],
  results: ReadonlyMap<string, readonly DrainResult[]>,
): Promise<boolean> {
  const why =
    guessed.length > 0
      ? 'the beginning of an ID'
      : agents.length > 1
        ? 'draining several agents'
        : plan.atDeadline === 'close'
          ? '--at-deadline close'
          : undefined;
  if (plan.yes || why === undefined) return true;
  for (const agent of agents) {
    operator.say(`${agent.id}: ${finishText(agent)}`);
    for (const line of takeoverOf(results.get(agent.id) ?? [])) operator.say(`  ${line}`);
  }
  const cut = plan.atDeadline === 'close' ? ', and close what is left at the deadline' : '';
  const who = agents.map((agent) => agent.id).join(', ');
  return await confirm(operator, `Drain ${who}${cut}?`, why);
}

export function takeoverOf(results: readonly DrainResult[]): string[] {
  return [...new Set(results.flatMap((result) => result.takeover))];
}

function tellPlaced(operator: Operator, plan: DrainPlan, agents: readonly Agent[], placed: Placed): void {
  const nowMs = operator.clock.wallMs();
  const results = byAgent(placed);
  for (const agent of agents) {
    const own = results.get(agent.id) ?? [];
    if (own.length === 0) continue;
    if (!plan.json) operator.say(changeText(agent.id, own, nowMs));
    else if (!plan.wait) {
      const [result] = own;
      operator.print(
        `${adminJson({ agent: agent.id, change: result?.change, order: result?.order, final: true })}\n`,
      );
    }
    const notes = new Set(own.flatMap((result) => result.notes));
    if (agent.kind === 'go' && ![...notes].some((note) => note.includes('Go agent'))) {
      notes.add('a Go agent cannot be told: only the servers that were asked keep the order');
    }
    for (const note of notes) operator.say(`${agent.id}: ${note}`);
  }
  for (const { place, fault } of placed.failed) {
    operator.say(`konnectivity-ts: ${place.serverId} did not take it: ${fault.line}`);
  }
  if (placed.failed.length > 0) {
    const ids = agents.map((agent) => agent.id);
    operator.say(
      `the others keep the order; undo it there: ${operator.command('undrain', ...ids, '--allow-partial')}`,
    );
  }
}

async function monitor(operator: Operator, plan: DrainPlan, agents: readonly Agent[]): Promise<ExitCode> {
  const ready = agents.filter((agent) => agent.state === 'ready' || (agent.state === 'gone' && !agent.order));
  const [first] = ready;
  if (first !== undefined) {
    const words = operator.command('drain', ...ready.map((agent) => agent.id));
    throw new Fault('failed', `${first.id} is ${first.state}, and not under an order`, `drain it: ${words}`);
  }
  const orders = new Map(agents.flatMap(({ id, order }): [string, Order][] => (order ? [[id, order]] : [])));
  const cuts = await CutTunnels.begin(operator, agents);
  return worstExit(await waitDrained(operator, plan, { agents, orders, cuts, untold: [] }));
}

/** The command line that was given, without --dry-run. */
function commandOf(operator: Operator, names: readonly string[], flags: DrainFlags): string {
  const words = ['drain', ...names];
  const add = (name: string, value: string | undefined): void => {
    if (value !== undefined) words.push(name, value);
  };
  add('--reason', flags.reason);
  add('--deadline', flags.deadline);
  add('--at-deadline', flags.atDeadline);
  add('--until', flags.until);
  add('--timeout', flags.timeout);
  add('--close-quiet', flags.closeQuiet);
  if (!flags.wait) words.push('--no-wait');
  if (flags.allowPartial) words.push('--allow-partial');
  if (flags.force) words.push('--force');
  return operator.command(...words);
}
