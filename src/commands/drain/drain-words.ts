import type { Agent, DrainResult } from '../../proxy/admin/model/agent.ts';
import { countText } from '../../proxy/admin/model/amounts.ts';
import type { Order } from '../../proxy/admin/model/order.ts';
import { deadlineText, orderText } from '../agent-rows.ts';

/** Two servers that take the same order do not read the clock at the same instant. */
const SAME_DEADLINE_MS = 5_000;

/**
 * What a request did to one agent, over all servers. A server that had just heard of the new order from another one
 * calls it an update: only what was really changed counts as that.
 */
export function changeOf(results: readonly DrainResult[]): DrainResult['change'] {
  if (results.some(({ previous, order }) => previous !== undefined && changes(previous, order)))
    return 'updated';
  if (results.some(({ change }) => change === 'placed')) return 'placed';
  return results.some(({ change }) => change === 'updated') ? 'updated' : 'unchanged';
}

function changes(before: Order, after: Order): boolean {
  return differences(before, after, 0).length > 0;
}

/** `node-b: draining is ordered`, or who ordered it before, or what was changed. */
export function changeText(agentId: string, results: readonly DrainResult[], nowMs: number): string {
  const change = changeOf(results);
  const result = results.find((one) => one.change === change) ?? results[0];
  if (result === undefined) return `${agentId}: nothing was changed`;
  const { order, previous } = result;
  switch (change) {
    case 'unchanged':
      return `${agentId}: nothing was changed, it is under ${orderText(order, nowMs)}`;
    case 'updated': {
      const what = previous === undefined ? [] : differences(previous, order, nowMs);
      return `${agentId}: order ${order.id} was changed${what.length === 0 ? '' : `: ${what.join(', ')}`}`;
    }
    case 'placed':
      return `${agentId}: draining is ordered (order ${order.id}${deadlineNote(order, nowMs)})`;
  }
}

function deadlineNote(order: Order, nowMs: number): string {
  return order.deadline === undefined ? '' : `, ${deadlineText(order, nowMs)}`;
}

/** `reason "a" -> "b"`, `no deadline -> deadline in 10m, then close`. */
function differences(before: Order, after: Order, nowMs: number): string[] {
  const parts: string[] = [];
  if (before.reason !== after.reason) {
    parts.push(`reason ${JSON.stringify(before.reason)} -> ${JSON.stringify(after.reason)}`);
  }
  const movedMs = Math.abs((before.deadline?.getTime() ?? 0) - (after.deadline?.getTime() ?? 0));
  if (movedMs > SAME_DEADLINE_MS) {
    parts.push(`${deadlineText(before, nowMs)} -> ${deadlineText(after, nowMs)}`);
  } else if (before.atDeadline !== after.atDeadline) {
    parts.push(`at the deadline ${before.atDeadline} -> ${after.atDeadline}`);
  }
  if (before.until !== after.until) parts.push(`until ${before.until} -> ${after.until}`);
  return parts;
}

/** `3 tunnels and 1 pending dial`. */
export function leftOf({ tunnels, pendingDials }: Pick<Agent, 'tunnels' | 'pendingDials'>): string {
  const dials = pendingDials > 0 ? ` and ${countText(pendingDials, 'pending dial')}` : '';
  return `${countText(tunnels, 'tunnel')}${dials}`;
}

/** `3 tunnels finish here`. */
export function finishText(agent: Pick<Agent, 'tunnels' | 'pendingDials'>): string {
  const isOne = agent.tunnels === 1 && agent.pendingDials === 0;
  return `${leftOf(agent)} ${isOne ? 'finishes' : 'finish'} here`;
}

/** What `drained` means of this agent. @param asked servers that answered */
export function drainedText(agent: Agent, asked: number): string {
  if (agent.kind === 'go') {
    const of = Math.max(agent.serverCount, asked);
    return of > asked
      ? `drained here, ${asked} of ${countText(of, 'server')} asked; a Go agent says nothing of the others`
      : `drained on all ${countText(of, 'server')}; ${stopText(agent, asked)}`;
  }
  const servers = agent.serverIds.length;
  const where = servers === 1 ? 'on its server' : `on all its ${servers} servers`;
  return `drained ${where}; ${stopText(agent, asked)}`;
}

/** Whether what ends the process loses no tunnel and no destination; if not, why not. */
function stopText(agent: Agent, asked: number): string {
  const { conditions, lastFor, replacements, serverIds, serverCount } = agent;
  if (agent.safeToStop) return 'safe to stop';
  if (lastFor.length > 0) return `idle, still the last for ${lastFor.join(', ')}`;
  if (conditions.includes('late') || conditions.includes('unresponsive'))
    return 'but it does not answer: it may have more than it said';
  if (conditions.includes('duplicate')) return 'but two instances have this ID, see agents -o wide';
  if (serverIds.length < serverCount) return `it has reached ${serverIds.length} of ${serverCount} servers`;
  if (conditions.includes('partial')) return 'not every server agrees yet';
  if (replacements === 0 && asked < serverIds.length) {
    return 'idle, still the last for something at another of its servers: ask all of them with --admin';
  }
  if (asked < serverIds.length) {
    const says = asked === 1 ? 'says' : 'say';
    return `others take over, ${says} ${asked} of them; ask all of them with --admin`;
  }
  return 'idle';
}
