import { adminJson } from '../../proxy/admin/model/admin-json.ts';
import type { Agent, DrainResult } from '../../proxy/admin/model/agent.ts';
import { ageText } from '../../proxy/admin/model/amounts.ts';
import { oneLine } from '../../proxy/ops/safe-text.ts';
import { ExitCode } from '../exit-code.ts';
import type { Operator } from '../operator.ts';
import { leftText } from '../tunnel-rows.ts';
import type { DrainPlan } from './drain-flags.ts';
import { changeOf, finishText } from './drain-words.ts';
import { oldestTunnels } from './progress.ts';
import { type QuietTunnel, quietTunnels } from './quiet-tunnels.ts';

/** Says what a drain would do: what finishes, what --close-quiet closes, who takes over, and the command. */
export async function showDryRun(
  operator: Operator,
  plan: DrainPlan,
  agents: readonly Agent[],
  results: ReadonlyMap<string, readonly DrainResult[]>,
  command: string,
): Promise<ExitCode> {
  for (const agent of agents) {
    const own = results.get(agent.id) ?? [];
    const quiet =
      plan.closeQuietMs === undefined ? [] : await quietTunnels(operator, agent.id, plan.closeQuietMs);
    if (plan.json) operator.print(jsonLine(agent, own, quiet, command));
    else {
      const lines = await textLines(operator, plan, agent, own, quiet);
      operator.print(lines.map((line) => `${oneLine(line, 2_000)}\n`).join(''));
    }
  }
  if (!plan.json) operator.say(`nothing was changed; to do it: ${command}`);
  return ExitCode.done;
}

async function textLines(
  operator: Operator,
  plan: DrainPlan,
  agent: Agent,
  results: readonly DrainResult[],
  quiet: readonly QuietTunnel[],
): Promise<string[]> {
  const lines = [
    `${agent.id}: would be ${changeOf(results) === 'placed' ? 'drained' : changeOf(results)}; ${finishText(agent)}`,
  ];
  const oldest = agent.tunnels === 0 ? [] : (await oldestTunnels(operator, agent.id)).slice(0, 5);
  lines.push(...oldest.map((tunnel) => `  ${leftText(tunnel)}`));
  const more = agent.tunnels - oldest.length;
  if (more > 0) lines.push(`  +${more} more: ${operator.command('tunnels', '--agent', agent.id)}`);
  const unique = (texts: readonly string[]): string[] => [...new Set(texts)];
  lines.push(...unique(results.flatMap((result) => result.takeover)).map((line) => `  new dials: ${line}`));
  lines.push(...unique(results.flatMap((result) => result.notes)).map((line) => `  note: ${line}`));
  for (const { tunnel } of quiet) {
    lines.push(
      `  --close-quiet would close ${tunnel.destination}, without a byte for ${ageText(tunnel.idleSeconds)}`,
    );
  }
  if (plan.closeQuietMs !== undefined && quiet.length === 0)
    lines.push('  --close-quiet would close nothing now');
  return lines;
}

function jsonLine(
  agent: Agent,
  results: readonly DrainResult[],
  quiet: readonly QuietTunnel[],
  command: string,
): string {
  const { id, state, tunnels, pendingDials } = agent;
  const takeover = [...new Set(results.flatMap((result) => result.takeover))];
  const notes = [...new Set(results.flatMap((result) => result.notes))];
  const would = { agent: id, dryRun: true, change: changeOf(results), state, tunnels, pendingDials };
  return `${adminJson({ ...would, takeover, notes, wouldClose: quiet.map(({ tunnel }) => tunnel), command })}\n`;
}
