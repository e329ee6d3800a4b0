import { adminJson } from '../proxy/admin/model/admin-json.ts';
import { mergeAgents } from '../proxy/admin/model/merge-agents.ts';
import type { Selection, SelectRequest } from '../proxy/admin/model/selection.ts';
import { Fault } from '../proxy/ops/fault.ts';
import type { AdminFlags } from './admin-flags.ts';
import { askAll, askFleet, separate, viewsOf } from './ask-all.ts';
import { checkDestination } from './check-destination.ts';
import { ExitCode } from './exit-code.ts';
import { findAgents } from './find-agents.ts';
import type { CommandIo } from './io.ts';
import { type Operator, type OperatorTools, operate } from './operator.ts';
import { selectionText } from './selection-text.ts';

export interface SelectFlags extends AdminFlags {
  readonly assumeDrained?: string;
  readonly assumeGone?: string;
  readonly output?: 'json' | 'name';
}

/** `konnectivity-ts select`: which agent would carry a dial, and why. @returns the exit code */
export function select(
  target: string,
  flags: SelectFlags,
  io: CommandIo,
  tools?: OperatorTools,
): Promise<ExitCode> {
  return operate(
    flags,
    io,
    async (operator) => {
      const assumed = {
        ...list('assumeDrained', flags.assumeDrained),
        ...list('assumeGone', flags.assumeGone),
      };
      const known = await knownAgents(operator, assumed);
      const { selections, code } = await askSelections(operator, { target, ...known });
      if (flags.output === 'json') {
        // The history belongs to `why`.
        const shown = selections.map(({ history: _, ...selection }) => selection);
        operator.print(`${adminJson(shown.length === 1 ? shown[0] : shown, 2)}\n`);
      } else if (flags.output === 'name') {
        operator.print(selections.map(({ agent }) => (agent === '' ? '' : `${agent}\n`)).join(''));
      } else operator.print(selections.map((one) => selectionText(one, operator)).join('\n'));
      return code;
    },
    tools,
    { check: () => checkDestination(target) },
  );
}

/** Asks all servers. The exit code is 3 where one of them has no agent for the target. */
export async function askSelections(
  operator: Operator,
  request: SelectRequest,
): Promise<{ readonly selections: readonly Selection[]; readonly code: ExitCode }> {
  const answers = await askAll(operator, (client, signal) => client.select(request, signal));
  const { values, lost } = separate(operator, answers);
  const none = values.some(({ choice }) => choice === 'none');
  return {
    selections: values,
    code: lost.length > 0 ? ExitCode.partial : none ? ExitCode.notFound : ExitCode.done,
  };
}

type Assumed = Pick<SelectRequest, 'assumeDrained' | 'assumeGone'>;

/**
 * The IDs of those that are named, also by kind=value: a slip would be an answer to another question.
 * @throws Fault for an agent that no server knows
 */
async function knownAgents(operator: Operator, assumed: Assumed): Promise<Assumed> {
  if (Object.keys(assumed).length === 0) return assumed;
  const answers = await askFleet(operator);
  // With a server missing nobody can say that there is no such agent.
  if (answers.some((answer) => answer.fault !== undefined)) return assumed;
  const merged = mergeAgents(viewsOf(answers));
  const rules = { byPrefix: false, listing: operator.command('agents') };
  return Object.fromEntries(
    Object.entries(assumed).map(([name, names]) => [
      name,
      findAgents(names ?? [], merged, rules).agents.map((agent) => agent.id),
    ]),
  );
}

function list(name: 'assumeDrained' | 'assumeGone', text: string | undefined): Assumed {
  if (text === undefined) return {};
  const ids = text
    .split(',')
    .map((id) => id.trim())
    .filter((id) => id !== '');
  if (ids.length > 0) return { [name]: ids };
  const flag = name === 'assumeDrained' ? '--assume-drained' : '--assume-gone';
  throw new Fault('flag-value', `${flag} names no agent`, 'give IDs, or leave it out');
}
