import type { Agent } from '../../proxy/admin/model/agent.ts';
import { countText } from '../../proxy/admin/model/amounts.ts';
import type { Tunnel } from '../../proxy/admin/model/tunnel.ts';
import { askAll } from '../ask-all.ts';
import type { Operator } from '../operator.ts';
import { inOrder } from '../tunnel-pages.ts';
import { leftText } from '../tunnel-rows.ts';
import { leftOf } from './drain-words.ts';

/** Tunnels that are named; the others are counted. */
const NAMED = 5;

/** Tells what is left of draining agents, when it changes, and now and then when it does not. */
export class Progress {
  readonly #operator: Operator;
  readonly #told = new Map<string, { readonly key: string; readonly atMs: number }>();

  constructor(operator: Operator) {
    this.#operator = operator;
  }

  /** Says what is left of that agent, if it is time to. @throws the signal's reason */
  async tell(agent: Agent): Promise<void> {
    const { clock, times } = this.#operator;
    const nowMs = clock.monoMs();
    const key = [agent.state, agent.source, agent.tunnels, agent.pendingDials, ...agent.conditions].join(' ');
    const told = this.#told.get(agent.id);
    const waitMs = told?.key === key ? times.remindMs : times.progressMs;
    if (told !== undefined && nowMs - told.atMs < waitMs) return;
    this.#told.set(agent.id, { key, atMs: nowMs });
    const lines = await this.#lines(agent);
    this.#operator.say(lines.join('\n'));
  }

  async #lines(agent: Agent): Promise<string[]> {
    const marks = [...(agent.source === 'leaving' ? ['leaving'] : []), ...agent.conditions];
    const conditions = marks.length === 0 ? '' : ` (${marks.join(', ')})`;
    const where = agent.serverIds.length > 1 ? ` on ${countText(agent.serverIds.length, 'server')}` : '';
    const lines = [`${agent.id}: ${agent.state}${conditions}, ${leftOf(agent)} left${where}`];
    if (agent.tunnels === 0) return lines;
    const tunnels = (await oldestTunnels(this.#operator, agent.id)).slice(0, NAMED);
    lines.push(...tunnels.map((tunnel) => `  ${leftText(tunnel)}`));
    const more = agent.tunnels - tunnels.length;
    if (more > 0) lines.push(`  +${more} more: ${this.#operator.command('tunnels', '--agent', agent.id)}`);
    return lines;
  }
}

/** The oldest tunnels of an agent at all servers that answer. */
export async function oldestTunnels(operator: Operator, agent: string): Promise<Tunnel[]> {
  const request = { agent, sort: 'age', pageSize: NAMED } as const;
  const answers = await askAll(operator, (client, signal) => client.tunnels(request, signal));
  return inOrder(
    answers.flatMap((answer) => (answer.fault === undefined ? answer.value.tunnels : [])),
    request,
  );
}
