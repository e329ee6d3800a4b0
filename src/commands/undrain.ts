import type { AdminClient } from '../proxy/admin/client/admin-client.ts';
import { adminJson } from '../proxy/admin/model/admin-json.ts';
import type { UndrainResult } from '../proxy/admin/model/agent.ts';
import { mergeAgents } from '../proxy/admin/model/merge-agents.ts';
import type { UndrainRequest } from '../proxy/admin/model/order.ts';
import { Fault, oneLine } from '../proxy/ops/fault.ts';
import type { AdminFlags } from './admin-flags.ts';
import { orderText } from './agent-rows.ts';
import { type Answer, askFleet, askOne, lostOf, ofServer, viewsOf } from './ask-all.ts';
import { confirm } from './confirm.ts';
import { ExitCode, exitOf, worstExit } from './exit-code.ts';
import { findAgents } from './find-agents.ts';
import { tellingInterruption } from './interrupted-change.ts';
import type { CommandIo } from './io.ts';
import { type Operator, type OperatorTools, operate } from './operator.ts';

export interface UndrainFlags extends AdminFlags {
  readonly dryRun?: true;
  readonly allowPartial?: true;
  readonly yes?: true;
  readonly output?: 'json';
}

/** `konnectivity-ts undrain`: ends drain orders. @returns the exit code */
export function undrain(
  names: readonly string[],
  flags: UndrainFlags,
  io: CommandIo,
  tools?: OperatorTools,
): Promise<ExitCode> {
  const run = (operator: Operator): Promise<ExitCode> =>
    tellingInterruption(operator, (sending) => undrainThem(operator, names, flags, sending));
  return operate(flags, io, run, tools, { endsWithReader: false });
}

interface Target {
  readonly client: AdminClient;
  readonly serverId: string;
  readonly agentIds: readonly string[];
}

async function undrainThem(
  operator: Operator,
  names: readonly string[],
  flags: UndrainFlags,
  sending: () => void,
): Promise<ExitCode> {
  const answers = await askFleet(operator);
  const lost = lostOf(operator, answers);
  const [first, ...others] = lost;
  if (first !== undefined && (lost.length === answers.length || !flags.allowPartial)) {
    for (const fault of others) operator.say(`konnectivity-ts: ${fault.line}`);
    throw new Fault(
      first.code,
      `${first.message}; nothing was changed`,
      lost.length === answers.length
        ? first.remedy
        : `try again, or go on without that server: ${commandOf(operator, names, flags)}`,
      first,
    );
  }
  for (const fault of lost) operator.say(`konnectivity-ts: ${fault.line}`);
  const { agents, guessed } = findAgents(names, mergeAgents(viewsOf(answers)), {
    byPrefix: operator.isTerminal && lost.length === 0,
    listing: operator.command('agents'),
  });
  const ids = agents.map((agent) => agent.id);
  const targets = answers.flatMap((answer): Target[] => {
    if (answer.fault !== undefined) return [];
    const { client, server, agents: known } = answer.value;
    const here = ids.filter((id) => known.some((agent) => agent.id === id));
    return here.length === 0 ? [] : [{ client, serverId: server.id, agentIds: here }];
  });
  const checked = await send(operator, targets, { validateOnly: true });
  const refused = checked.filter(([, answer]) => answer.fault !== undefined);
  if (refused.length > 0) {
    tellFailed(operator, refused);
    operator.say(`nothing was changed; see ${operator.command('agents')}`);
    return worstExit(refused.map(([, { fault }]) => (fault === undefined ? ExitCode.done : exitOf(fault))));
  }
  if (flags.dryRun) return tell(operator, flags, ids, checked, 'would end');
  if (!flags.yes && (guessed.length > 0 || ids.length > 1)) {
    const why = guessed.length > 0 ? 'the beginning of an ID' : 'undraining several agents';
    if (!(await confirm(operator, `Undrain ${ids.join(', ')}?`, why))) {
      operator.say('nothing was changed');
      return ExitCode.failed;
    }
  }
  sending();
  const done = await send(operator, targets, {});
  const failed = done.filter(([, answer]) => answer.fault !== undefined);
  tellFailed(operator, failed);
  if (failed.length === done.length) {
    operator.say('nothing was changed');
    return worstExit(failed.map(([, { fault }]) => (fault === undefined ? ExitCode.done : exitOf(fault))));
  }
  const code = tell(operator, flags, ids, done, 'ended');
  return failed.length > 0 || lost.length > 0 ? ExitCode.partial : code;
}

/** The command line that was given, for the servers that answer. */
function commandOf(operator: Operator, names: readonly string[], flags: UndrainFlags): string {
  const dry = flags.dryRun ? ['--dry-run'] : [];
  return operator.command('undrain', ...names, ...dry, '--allow-partial');
}

type Sent = readonly (readonly [Target, Answer<readonly UndrainResult[]>])[];

async function send(
  operator: Operator,
  targets: readonly Target[],
  more: Omit<UndrainRequest, 'agentIds'>,
): Promise<Sent> {
  return await Promise.all(
    targets.map(
      async (target) =>
        [
          target,
          await askOne(operator, target.client, (client, signal) =>
            client.undrain({ ...more, agentIds: target.agentIds }, signal),
          ),
        ] as const,
    ),
  );
}

function tellFailed(operator: Operator, failed: Sent): void {
  for (const [{ client, serverId }, { fault }] of failed) {
    if (fault === undefined) continue;
    operator.say(`konnectivity-ts: ${ofServer(operator, client, fault, serverId).line}`);
  }
}

function tell(
  operator: Operator,
  flags: UndrainFlags,
  ids: readonly string[],
  sent: Sent,
  ended: string,
): ExitCode {
  const nowMs = operator.clock.wallMs();
  const results = sent.flatMap(([, answer]) => (answer.fault === undefined ? answer.value : []));
  for (const id of ids) {
    const own = results.filter((result) => result.agentId === id);
    const change = own.find((result) => result.change === 'ended') ?? own[0];
    if (change === undefined) continue;
    const notes = [...new Set(own.flatMap((result) => result.notes))];
    if (flags.output === 'json') {
      const { order } = change;
      operator.print(
        `${adminJson({ agent: id, change: change.change, order, notes, dryRun: flags.dryRun })}\n`,
      );
      continue;
    }
    const what =
      change.change === 'unchanged' || change.order === undefined
        ? 'nothing to end, it is not under an order'
        : `${ended}: ${orderText(change.order, nowMs)}`;
    operator.print(`${oneLine(`${id}: ${what}`, 2_000)}\n`);
    for (const note of notes) operator.say(`${id}: ${note}`);
  }
  return ExitCode.done;
}
