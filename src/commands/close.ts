import type { AdminClient } from '../proxy/admin/client/admin-client.ts';
import { adminJson } from '../proxy/admin/model/admin-json.ts';
import { ageText } from '../proxy/admin/model/amounts.ts';
import type { Tunnel } from '../proxy/admin/model/tunnel.ts';
import { Fault } from '../proxy/ops/fault.ts';
import type { AdminFlags } from './admin-flags.ts';
import { askAll, lostOf } from './ask-all.ts';
import { ExitCode } from './exit-code.ts';
import { tellingInterruption } from './interrupted-change.ts';
import type { CommandIo } from './io.ts';
import { type Operator, type OperatorTools, operate } from './operator.ts';
import { shellWord } from './shell-word.ts';

export interface CloseFlags extends AdminFlags {
  readonly reason?: string;
  readonly dryRun?: true;
  readonly output?: 'json';
}

/** `konnectivity-ts close`: cuts one tunnel. @returns the exit code */
export function close(
  id: string,
  flags: CloseFlags,
  io: CommandIo,
  tools?: OperatorTools,
): Promise<ExitCode> {
  return operate(
    flags,
    io,
    (operator) => tellingInterruption(operator, (sending) => closeOne(operator, id, flags, sending)),
    tools,
    { endsWithReader: false },
  );
}

async function closeOne(
  operator: Operator,
  id: string,
  flags: CloseFlags,
  sending: () => void,
): Promise<ExitCode> {
  const owner = await ownerOf(operator, id);
  const request = { id, ...(flags.reason === undefined ? {} : { reason: flags.reason }) };
  if (!flags.dryRun) sending();
  const tunnel = await owner.closeTunnel(
    flags.dryRun ? { ...request, validateOnly: true } : request,
    operator.stopped,
  );
  if (flags.output === 'json') operator.print(`${adminJson(tunnel)}\n`);
  else operator.print(`${flags.dryRun ? 'would close' : 'closed'} ${tunnelText(tunnel)}\n`);
  if (flags.dryRun) {
    const reason = flags.reason === undefined ? [] : ['--reason', flags.reason];
    operator.say(`to do it: ${operator.command('close', id, ...reason)}`);
  }
  return ExitCode.done;
}

/** The server that has the tunnel. @throws Fault when none has it, several do, or one that could did not answer */
async function ownerOf(operator: Operator, id: string): Promise<AdminClient> {
  const answers = await askAll(operator, (client, signal) =>
    client.closeTunnel({ id, validateOnly: true }, signal),
  );
  const owners = answers.filter((answer) => answer.fault === undefined);
  const [owner, other] = owners;
  if (owner !== undefined && other === undefined) return owner.client;
  const listing = `list them: ${operator.command('tunnels')}`;
  if (owner !== undefined) {
    const where = owners.map(({ client }) => client.address).join(', ');
    throw new Fault(
      'agent-ambiguous',
      `several servers have a tunnel ${shellWord(id)}: ${where}`,
      'name one with --admin',
    );
  }
  const [problem, ...others] = lostOf(operator, answers).filter(({ code }) => code !== 'admin-not-found');
  for (const fault of others) operator.say(`konnectivity-ts: ${fault.line}`);
  if (problem !== undefined) throw problem;
  throw new Fault(
    'admin-not-found',
    `there is no tunnel ${shellWord(id)}: it has ended, or never was`,
    listing,
  );
}

function tunnelText(tunnel: Tunnel): string {
  const { id, destination, client, agent, ageSeconds } = tunnel;
  return `${id}: ${client === '' ? '' : `${client} to `}${destination} through ${agent}, ${ageText(ageSeconds)} old`;
}
