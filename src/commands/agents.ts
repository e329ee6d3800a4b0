import { adminJson } from '../proxy/admin/model/admin-json.ts';
import type { Agent } from '../proxy/admin/model/agent.ts';
import { mergeAgents } from '../proxy/admin/model/merge-agents.ts';
import { oneLine } from '../proxy/ops/fault.ts';
import type { AdminFlags, OutputFlag } from './admin-flags.ts';
import { AGENT_GIVES_WAY, agentHead, agentRow, agentRowKey } from './agent-rows.ts';
import { AgentsWatch, type WatchNews } from './agents-watch.ts';
import { askFleet, separate, viewsOf } from './ask-all.ts';
import { Bell } from './bell.ts';
import { ExitCode } from './exit-code.ts';
import type { CommandIo } from './io.ts';
import { LostServers } from './lost-servers.ts';
import { type Operator, type OperatorTools, operate } from './operator.ts';
import { RowWatch } from './row-watch.ts';
import { formatTable } from './table.ts';

export interface AgentsFlags extends AdminFlags {
  readonly output?: OutputFlag;
  readonly watch?: true;
}

/** `konnectivity-ts agents`: the agents that the servers know. @returns the exit code */
export function agents(flags: AgentsFlags, io: CommandIo, tools?: OperatorTools): Promise<ExitCode> {
  return operate(
    flags,
    io,
    (operator) => (flags.watch ? watch(operator, flags) : list(operator, flags)),
    tools,
  );
}

async function list(operator: Operator, flags: AgentsFlags): Promise<ExitCode> {
  const answers = await askFleet(operator);
  const { lost } = separate(operator, answers);
  const merged = mergeAgents(viewsOf(answers));
  operator.print(listText(operator, merged, flags.output));
  if (merged.length === 0 && flags.output === undefined) operator.say('no agent is connected');
  return lost.length > 0 ? ExitCode.partial : ExitCode.done;
}

function listText(operator: Operator, merged: readonly Agent[], output: OutputFlag | undefined): string {
  if (output === 'json') return `${adminJson(merged, 2)}\n`;
  if (output === 'name') return merged.map((agent) => `${oneLine(agent.id)}\n`).join('');
  const wide = output === 'wide';
  const nowMs = operator.clock.wallMs();
  return formatTable(
    agentHead(wide),
    merged.map((agent) => agentRow(agent, wide, nowMs)),
    wide ? undefined : operator.fit(AGENT_GIVES_WAY),
  );
}

/** Prints what changed until somebody stops it. JSON: the whole array in one line, at each change. */
async function watch(operator: Operator, flags: AgentsFlags): Promise<ExitCode> {
  const { output } = flags;
  const wide = output === 'wide';
  const bell = new Bell();
  const rows = new RowWatch(agentHead(wide), 'removed', wide ? undefined : operator.fit(AGENT_GIVES_WAY));
  const names = new Set<string>();
  let lastJson = '';
  const show = (merged: readonly Agent[], complete: boolean): void => {
    if (output === 'json') {
      const json = adminJson(merged);
      if (json !== lastJson) operator.print(`${json}\n`);
      lastJson = json;
    } else if (output === 'name') {
      for (const { id } of merged) {
        if (!names.has(id)) operator.print(`${oneLine(id)}\n`);
        names.add(id);
      }
    } else {
      const nowMs = operator.clock.wallMs();
      const cells = (agent: Agent) => agentRow(agent, wide, nowMs);
      operator.print(
        rows.next(
          merged.map((agent) => ({ id: agent.id, cells: cells(agent), key: agentRowKey(agent, wide) })),
          complete,
        ),
      );
    }
  };
  const lost = new LostServers(operator);
  const over = new AbortController();
  const stopped = AbortSignal.any([operator.stopped, over.signal]);
  const onNews = (news: WatchNews): void => {
    bell.ring();
    if (news.kind === 'restarted') operator.say(`${news.serverId} was restarted`);
    if (news.kind === 'back') operator.say(`${news.client.address} is back`);
    try {
      if (news.kind === 'lost') lost.lost(news.client, news.fault);
      else lost.answers(news.client);
    } catch (error) {
      over.abort(error);
    }
  };
  const agentsWatch = new AgentsWatch(operator, { signal: stopped, onNews });
  const { clock, times } = operator;
  while (!stopped.aborted) {
    await bell.wait(clock, times.remindMs, stopped);
    const { servers, views } = agentsWatch;
    // The first picture is one of all servers, those that are known to be lost aside.
    const isSettled = servers.every(({ answers, fault }) => answers || fault !== undefined);
    if (stopped.aborted || !isSettled || !servers.some(({ answers }) => answers)) continue;
    show(
      mergeAgents(views),
      servers.every(({ answers }) => answers),
    );
  }
  await agentsWatch.ended;
  if (over.signal.aborted) throw over.signal.reason;
  return operator.io.interrupted.aborted ? ExitCode.interrupted : ExitCode.done;
}
